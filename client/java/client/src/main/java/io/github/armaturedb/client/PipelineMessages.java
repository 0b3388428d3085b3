package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.BatchGetItemRequest;
import io.github.armaturedb.api.v1.BatchWriteItemRequest;
import io.github.armaturedb.api.v1.DeleteItemRequest;
import io.github.armaturedb.api.v1.GetItemRequest;
import io.github.armaturedb.api.v1.PipelineRequest;
import io.github.armaturedb.api.v1.PipelineResponse;
import io.github.armaturedb.api.v1.PutItemRequest;
import io.github.armaturedb.api.v1.QueryRequest;
import io.github.armaturedb.api.v1.ScanRequest;
import io.github.armaturedb.api.v1.TransactGetItemsRequest;
import io.github.armaturedb.api.v1.TransactWriteItemsRequest;
import io.github.armaturedb.api.v1.UpdateItemRequest;

/** Operations in the messages of a pipeline. */
final class PipelineMessages {
    private PipelineMessages() {}

    /** Null: the operation cannot be sent over a pipeline. */
    static PipelineRequest.Builder request(Object request) {
        PipelineRequest.Builder message = PipelineRequest.newBuilder();
        if (request instanceof GetItemRequest r) {
            return message.setGetItem(r);
        } else if (request instanceof PutItemRequest r) {
            return message.setPutItem(r);
        } else if (request instanceof UpdateItemRequest r) {
            return message.setUpdateItem(r);
        } else if (request instanceof DeleteItemRequest r) {
            return message.setDeleteItem(r);
        } else if (request instanceof QueryRequest r) {
            return message.setQuery(r);
        } else if (request instanceof ScanRequest r) {
            return message.setScan(r);
        } else if (request instanceof BatchGetItemRequest r) {
            return message.setBatchGetItem(r);
        } else if (request instanceof BatchWriteItemRequest r) {
            return message.setBatchWriteItem(r);
        } else if (request instanceof TransactGetItemsRequest r) {
            return message.setTransactGetItems(r);
        } else if (request instanceof TransactWriteItemsRequest r) {
            return message.setTransactWriteItems(r);
        }
        return null;
    }

    /** Null: the answer is of another operation. */
    static Object response(PipelineResponse response, String operation) {
        return switch (operation) {
            case "GetItem" -> response.hasGetItem() ? response.getGetItem() : null;
            case "PutItem" -> response.hasPutItem() ? response.getPutItem() : null;
            case "UpdateItem" -> response.hasUpdateItem() ? response.getUpdateItem() : null;
            case "DeleteItem" -> response.hasDeleteItem() ? response.getDeleteItem() : null;
            case "Query" -> response.hasQuery() ? response.getQuery() : null;
            case "Scan" -> response.hasScan() ? response.getScan() : null;
            case "BatchGetItem" -> response.hasBatchGetItem() ? response.getBatchGetItem() : null;
            case "BatchWriteItem" -> response.hasBatchWriteItem() ? response.getBatchWriteItem() : null;
            case "TransactGetItems" -> response.hasTransactGetItems() ? response.getTransactGetItems() : null;
            case "TransactWriteItems" -> response.hasTransactWriteItems() ? response.getTransactWriteItems() : null;
            default -> null;
        };
    }
}
