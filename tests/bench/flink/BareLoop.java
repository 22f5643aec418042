package bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The rule over lines of a file in memory, in one thread: what the events cost by themselves. */
public final class BareLoop {
    private BareLoop() {}

    public static void main(String[] arguments) throws Exception {
        List<byte[]> lines = Files.readAllLines(Path.of(arguments[0])).stream()
            .map(String::getBytes).toList();
        int rounds = Integer.parseInt(arguments[1]);
        for (int round = 0; round < rounds; round++) {
            long started = System.nanoTime();
            int alerts = run(lines);
            double seconds = (System.nanoTime() - started) / 1e9;
            System.out.printf("%d %d%n", Math.round(lines.size() / seconds), alerts);
        }
    }

    private static int run(List<byte[]> lines) {
        Map<String, Book> books = new HashMap<>();
        int alerts = 0;
        long ms = 0;
        for (byte[] line : lines) {
            Event event = Event.parse(line, ms++ / 1000);
            Book book = books.computeIfAbsent(event.orderId, order -> new Book());
            book.take(event);
            if (!book.alerted && book.worst() != null) {
                book.alerted = true;
                alerts++;
            }
        }
        return alerts;
    }
}
