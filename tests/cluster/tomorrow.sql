-- Serves programs since 0018_words_planned_once
CREATE TABLE tomorrow (
  day date PRIMARY KEY
);
