package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.AttributeValue;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;

/** Types of Java that are one text, number, boolean or bytes. */
final class Scalars {
    /** A conversion between a type and its attribute. */
    interface Scalar {
        AttributeValue write(Object value, String path);

        Object read(AttributeValue value, String path);

        AttributeValue.ValueCase kind();
    }

    /** Always with nine digits of the second: the texts of {@link Instant#toString} have 0 to 9 and would not sort by time. */
    private static final DateTimeFormatter INSTANTS =
            new DateTimeFormatterBuilder().parseCaseInsensitive().appendInstant(9).toFormatter(java.util.Locale.ROOT);

    private static final Map<Class<?>, Scalar> KNOWN = new HashMap<>();

    static {
        text(String.class, s -> s);
        number(Integer.class, int.class, BigDecimal::intValueExact);
        number(Long.class, long.class, BigDecimal::longValueExact);
        number(Short.class, short.class, BigDecimal::shortValueExact);
        number(Byte.class, byte.class, BigDecimal::byteValueExact);
        number(Double.class, double.class, BigDecimal::doubleValue);
        number(Float.class, float.class, Scalars::floatOf);
        number(BigDecimal.class, null, n -> n);
        number(BigInteger.class, null, BigDecimal::toBigIntegerExact);
        number(Number.class, null, n -> n);
        add(Boolean.class, boolean.class, AttributeValue.ValueCase.BOOL, AttributeValue::getBool);
        add(byte[].class, null, AttributeValue.ValueCase.B, v -> v.getB().toByteArray());
        add(ByteBuffer.class, null, AttributeValue.ValueCase.B, v -> v.getB().asReadOnlyByteBuffer());
        text(Character.class, Scalars::characterOf);
        KNOWN.put(char.class, KNOWN.get(Character.class));
        text(Instant.class, INSTANTS::format, Instant::parse);
        text(LocalDate.class, LocalDate::parse);
        text(LocalTime.class, LocalTime::parse);
        text(LocalDateTime.class, LocalDateTime::parse);
        text(OffsetDateTime.class, OffsetDateTime::parse);
        text(ZonedDateTime.class, ZonedDateTime::parse);
        text(Duration.class, Duration::parse);
        text(UUID.class, UUID::fromString);
        text(URI.class, URI::create);
    }

    private Scalars() {}

    private static Float floatOf(BigDecimal number) {
        float nearest = number.floatValue();
        if (Float.isInfinite(nearest)) {
            throw new ArithmeticException("out of range");
        }
        return nearest;
    }

    private static Character characterOf(String text) {
        if (text.length() != 1) {
            throw new IllegalArgumentException("\"" + text + "\" is not one character");
        }
        return text.charAt(0);
    }

    /** Null: the type is no scalar. */
    static Scalar of(Class<?> type) {
        Scalar known = KNOWN.get(type);
        if (known != null) {
            return known;
        }
        if (type.isEnum()) {
            return new EnumScalar(type);
        }
        Class<?> parent = type.getSuperclass(); // an enum constant with a body
        return parent != null && parent.isEnum() ? new EnumScalar(parent) : null;
    }

    private static <T> void text(Class<T> type, Function<String, T> parse) {
        text(type, T::toString, parse);
    }

    private static <T> void text(Class<T> type, Function<T, String> format, Function<String, T> parse) {
        KNOWN.put(type, new Scalar() {
            @Override
            public AttributeValue write(Object value, String path) {
                return Values.text(format.apply(type.cast(value)));
            }

            @Override
            public Object read(AttributeValue value, String path) {
                require(value, AttributeValue.ValueCase.S, type, path);
                try {
                    return parse.apply(value.getS());
                } catch (RuntimeException e) {
                    throw new MappingException(path, "no " + type.getSimpleName() + ": " + e.getMessage());
                }
            }

            @Override
            public AttributeValue.ValueCase kind() {
                return AttributeValue.ValueCase.S;
            }
        });
    }

    private static void number(Class<?> type, Class<?> primitive, Function<BigDecimal, ?> convert) {
        add(type, primitive, AttributeValue.ValueCase.N, value -> {
            // Most numbers are small integers, which need no BigDecimal.
            String text = value.getN();
            if (type == Integer.class && text.length() < 10 && isPlain(text)) {
                return Integer.parseInt(text);
            } else if (type == Long.class && text.length() < 19 && isPlain(text)) {
                return Long.parseLong(text);
            } else if (type == Double.class) {
                return Double.parseDouble(text);
            }
            return convert.apply(Values.decimal(text));
        });
    }

    private static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); ++i) {
            char c = text.charAt(i);
            if (c > '9' || c < '0' && !(c == '-' && i == 0 && text.length() > 1)) {
                return false;
            }
        }
        return !text.isEmpty();
    }

    private static void add(Class<?> type, Class<?> primitive, AttributeValue.ValueCase kind, Function<AttributeValue, ?> read) {
        Scalar scalar = new Scalar() {
            @Override
            public AttributeValue write(Object value, String path) {
                return Values.encode(value, path);
            }

            @Override
            public Object read(AttributeValue value, String path) {
                require(value, kind, type, path);
                try {
                    return read.apply(value);
                } catch (ArithmeticException | NumberFormatException e) {
                    throw new MappingException(path, "the number " + value.getN() + " does not fit into " + type.getSimpleName());
                }
            }

            @Override
            public AttributeValue.ValueCase kind() {
                return kind;
            }
        };
        KNOWN.put(type, scalar);
        if (primitive != null) {
            KNOWN.put(primitive, scalar);
        }
    }

    static void require(AttributeValue value, AttributeValue.ValueCase kind, Class<?> type, String path) {
        if (value.getValueCase() != kind) {
            throw new MappingException(path, "an attribute of the type " + value.getValueCase() + " does not fit into " + type.getSimpleName());
        }
    }

    /** Enums are stored by their names. */
    private record EnumScalar(Class<?> type) implements Scalar {
        @Override
        public AttributeValue write(Object value, String path) {
            return Values.text(((Enum<?>) value).name());
        }

        @Override
        public Object read(AttributeValue value, String path) {
            require(value, AttributeValue.ValueCase.S, type, path);
            for (Object constant : type.getEnumConstants()) {
                if (((Enum<?>) constant).name().equals(value.getS())) {
                    return constant;
                }
            }
            throw new MappingException(path, type.getSimpleName() + " has no constant " + value.getS());
        }

        @Override
        public AttributeValue.ValueCase kind() {
            return AttributeValue.ValueCase.S;
        }
    }
}
