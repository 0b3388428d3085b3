package io.github.armaturedb.client;

/** Options of a get, also of several items. */
public final class GetOptions extends RequestOptions<GetOptions> {
    boolean isConsistent;
    Expression projection;

    /** The result has every write that was done before. */
    public GetOptions consistent() {
        isConsistent = true;
        return this;
    }

    /** Only these attributes. */
    public GetOptions projection(Expression value) {
        projection = value;
        return this;
    }

    /** Only these attributes, as text such as "id, address.city". */
    public GetOptions projection(String text) {
        return projection(Expression.text(text));
    }

    GetOptions() {}

    @Override
    GetOptions self() {
        return this;
    }
}
