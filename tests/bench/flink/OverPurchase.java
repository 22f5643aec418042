package bench;

import java.io.IOException;
import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/** The shipped rule as a Flink job: bootstrap, state backend, folder, seconds, parallelism. */
public final class OverPurchase {
    private OverPurchase() {}

    public static void main(String[] arguments) throws Exception {
        int parallelism = Integer.parseInt(arguments[4]);
        StreamExecutionEnvironment flink = StreamExecutionEnvironment.createLocalEnvironment(
            parallelism, configuration(arguments[1], arguments[2], arguments[3]));
        flink.setBufferTimeout(1);
        flink.getConfig().enableObjectReuse();
        WatermarkStrategy<Event> late =
            WatermarkStrategy.forBoundedOutOfOrderness(Duration.ofMinutes(10));
        flink.fromSource(source(arguments[0]), late, "trades")
            .keyBy(event -> event.orderId)
            .process(new Rule())
            .sinkTo(sink(arguments[0]));
        flink.executeAsync("over-purchase");
        System.out.println("running");
        Thread.currentThread().join();
    }

    private static Configuration configuration(String state, String folder, String seconds) {
        Configuration told = new Configuration();
        told.setString("state.backend.type", state);
        told.setString("execution.checkpointing.interval", seconds + " s");
        told.setString("execution.checkpointing.dir", "file://" + folder + "/checkpoints");
        told.setString("execution.checkpointing.incremental", "true");
        told.setString("taskmanager.memory.managed.size", "128m");
        told.setString("state.backend.rocksdb.use-bloom-filter", "true");
        told.setString("restart-strategy.type", "none");
        told.setString("io.tmp.dirs", folder + "/tmp");
        return told;
    }

    private static KafkaSource<Event> source(String bootstrap) {
        return KafkaSource.<Event>builder()
            .setBootstrapServers(bootstrap)
            .setTopics("trades")
            .setGroupId("bench-flink")
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setProperty("max.poll.records", "5000")
            .setProperty("receive.buffer.bytes", "-1")
            .setDeserializer(new Reader())
            .build();
    }

    /** Drops what does not keep the stream's declaration. */
    private static final class Reader implements KafkaRecordDeserializationSchema<Event> {
        @Override
        public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<Event> out)
                throws IOException {
            Event event = Event.parse(record.value(), record.timestamp());
            if (event != null) {
                out.collect(event);
            }
        }

        @Override
        public TypeInformation<Event> getProducedType() {
            return new EventType();
        }
    }

    private static KafkaSink<Rule.Found> sink(String bootstrap) {
        return KafkaSink.<Rule.Found>builder()
            .setBootstrapServers(bootstrap)
            .setProperty("linger.ms", "0")
            .setProperty("acks", "all")
            .setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
            .setRecordSerializer(new Writer())
            .build();
    }

    /** Alerts are written as they are, with their id as key. */
    private static final class Writer implements KafkaRecordSerializationSchema<Rule.Found> {
        @Override
        public ProducerRecord<byte[], byte[]> serialize(
                Rule.Found found, KafkaSinkContext context, Long timestamp) {
            return new ProducerRecord<>("alerts", found.key, found.value);
        }
    }
}
