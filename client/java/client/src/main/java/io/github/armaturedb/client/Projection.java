package io.github.armaturedb.client;

import java.util.List;

/** The attributes that a read returns. */
final class Projection extends Expression {
    private final List<String> paths;

    Projection(List<String> paths) {
        this.paths = paths;
    }

    @Override
    String compile(Binder binder) {
        return Operand.joined(", ", paths.stream().map(Expressions::attr).toList()).compile.apply(binder);
    }
}
