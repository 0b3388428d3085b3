//! The AWS SDK for Rust against the daemon at $ENDPOINT.

use std::collections::HashMap;

use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, Delete, Get, GlobalSecondaryIndex, KeySchemaElement, KeyType,
    Projection, ProjectionType, Put, PutRequest, ReturnValue, ReturnValuesOnConditionCheckFailure, ScalarAttributeType,
    TransactGetItem, TransactWriteItem, WriteRequest,
};
use aws_sdk_dynamodb::Client;

type Outcome = Result<(), Box<dyn std::error::Error>>;
type Item = HashMap<String, AttributeValue>;

const ORDERS: &str = "rust_orders";
const BY_STATUS: &str = "ByStatus";

fn text(value: &str) -> AttributeValue {
    AttributeValue::S(value.to_string())
}

fn number(value: impl ToString) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

fn key(customer: &str, at: usize) -> Item {
    HashMap::from([("customer".to_string(), text(customer)), ("number".to_string(), number(at))])
}

fn numbers(items: &[Item]) -> Vec<usize> {
    items.iter().map(|item| item["number"].as_n().unwrap().parse().unwrap()).collect()
}

async fn create_table(client: &Client) -> Outcome {
    let attribute = |name, kind| AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build();
    let member = |name, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build();
    client
        .create_table()
        .table_name(ORDERS)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(attribute("customer", ScalarAttributeType::S)?)
        .attribute_definitions(attribute("number", ScalarAttributeType::N)?)
        .attribute_definitions(attribute("status", ScalarAttributeType::S)?)
        .attribute_definitions(attribute("amount", ScalarAttributeType::N)?)
        .key_schema(member("customer", KeyType::Hash)?)
        .key_schema(member("number", KeyType::Range)?)
        .global_secondary_indexes(
            GlobalSecondaryIndex::builder()
                .index_name(BY_STATUS)
                .key_schema(member("status", KeyType::Hash)?)
                .key_schema(member("amount", KeyType::Range)?)
                .projection(Projection::builder().projection_type(ProjectionType::All).build())
                .build()?,
        )
        .send()
        .await?;
    // DescribeTable waits for the end of the creation.
    let described = client.describe_table().table_name(ORDERS).send().await?;
    assert_eq!(described.table().unwrap().global_secondary_indexes().len(), 1);
    Ok(())
}

async fn items(client: &Client) -> Outcome {
    let mut item = key("ann", 0);
    item.extend([
        ("status".to_string(), text("new")),
        ("amount".to_string(), number("12345678901234567890.12345")),
        ("tags".to_string(), AttributeValue::Ss(vec!["a".to_string(), "b".to_string()])),
        ("data".to_string(), AttributeValue::B(Blob::new([0, 255]))),
        ("notes".to_string(), AttributeValue::L(vec![text("ü\0\"\\"), AttributeValue::Null(true), AttributeValue::Bool(false)])),
    ]);
    client.put_item().table_name(ORDERS).set_item(Some(item.clone())).send().await?;
    let got = client.get_item().table_name(ORDERS).set_key(Some(key("ann", 0))).consistent_read(true).send().await?;
    assert_eq!(got.item, Some(item.clone()));

    let refused = client
        .put_item()
        .table_name(ORDERS)
        .set_item(Some(key("ann", 0)))
        .condition_expression("attribute_not_exists(customer)")
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .send()
        .await
        .unwrap_err()
        .into_service_error();
    assert!(refused.is_conditional_check_failed_exception(), "{refused:?}");
    assert_eq!(refused.meta().message(), Some("The conditional request failed"));

    let updated = client
        .update_item()
        .table_name(ORDERS)
        .set_key(Some(key("ann", 0)))
        .update_expression("SET amount = :a ADD visits :one")
        .condition_expression("#s = :new")
        .expression_attribute_names("#s", "status")
        .expression_attribute_values(":a", number("2.5"))
        .expression_attribute_values(":one", number(1))
        .expression_attribute_values(":new", text("new"))
        .return_values(ReturnValue::UpdatedNew)
        .send()
        .await?;
    let changed = HashMap::from([("amount".to_string(), number("2.5")), ("visits".to_string(), number(1))]);
    assert_eq!(updated.attributes, Some(changed));
    Ok(())
}

async fn pages(client: &Client) -> Outcome {
    let mut puts = Vec::new();
    for i in 0..25 {
        let mut item = key("bob", i);
        item.extend([("status".to_string(), text("paid")), ("amount".to_string(), number(i))]);
        let put = PutRequest::builder().set_item(Some(item)).build()?;
        puts.push(WriteRequest::builder().put_request(put).build());
    }
    let written = client.batch_write_item().request_items(ORDERS, puts).send().await?;
    assert!(written.unprocessed_items().unwrap().is_empty());

    let mut pages = client
        .query()
        .table_name(ORDERS)
        .key_condition_expression("customer = :c")
        .expression_attribute_values(":c", text("bob"))
        .into_paginator()
        .page_size(10)
        .send();
    let (mut counts, mut found) = (Vec::new(), Vec::new());
    while let Some(page) = pages.next().await {
        let page = page?;
        counts.push(page.count());
        found.extend(numbers(page.items()));
    }
    assert_eq!(counts, [10, 10, 5]);
    assert_eq!(found, (0..25).collect::<Vec<_>>());

    let by_status = client
        .query()
        .table_name(ORDERS)
        .index_name(BY_STATUS)
        .key_condition_expression("#s = :s AND amount BETWEEN :from AND :to")
        .expression_attribute_names("#s", "status")
        .expression_attribute_values(":s", text("paid"))
        .expression_attribute_values(":from", number(3))
        .expression_attribute_values(":to", number(5))
        .scan_index_forward(false)
        .send()
        .await?;
    assert_eq!(numbers(by_status.items()), [5, 4, 3]);

    let scanned = client.scan().table_name(ORDERS).into_paginator().page_size(7).items().send();
    assert_eq!(scanned.collect::<Result<Vec<_>, _>>().await?.len(), 26);
    Ok(())
}

async fn transactions(client: &Client) -> Outcome {
    let put = Put::builder()
        .table_name(ORDERS)
        .set_item(Some(key("cid", 1)))
        .condition_expression("attribute_not_exists(customer)")
        .build()?;
    let delete = Delete::builder().table_name(ORDERS).set_key(Some(key("bob", 0))).build()?;
    let moved = client
        .transact_write_items()
        .transact_items(TransactWriteItem::builder().put(put).build())
        .transact_items(TransactWriteItem::builder().delete(delete).build());
    moved.clone().send().await?;
    let refused = moved.send().await.unwrap_err().into_service_error();
    let TransactWriteItemsError::TransactionCanceledException(cancelled) = refused else { panic!("{refused:?}") };
    let codes: Vec<_> = cancelled.cancellation_reasons().iter().filter_map(|reason| reason.code()).collect();
    assert_eq!(codes, ["ConditionalCheckFailed", "None"]);

    let get = |key| Get::builder().table_name(ORDERS).set_key(Some(key)).build();
    let read = client
        .transact_get_items()
        .transact_items(TransactGetItem::builder().get(get(key("cid", 1))?).build())
        .transact_items(TransactGetItem::builder().get(get(key("bob", 0))?).build())
        .send()
        .await?;
    assert_eq!(read.responses()[0].item(), Some(&key("cid", 1)));
    assert_eq!(read.responses()[1].item(), None);
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(std::env::var("ENDPOINT")?)
        .region(Region::new("local"))
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .credentials_provider(Credentials::new("anyone", "anything", None, None, "test"))
        .build();
    let client = Client::from_conf(config);
    create_table(&client).await?;
    items(&client).await?;
    pages(&client).await?;
    transactions(&client).await?;
    let missing = client.delete_table().table_name("nowhere").send().await.unwrap_err().into_service_error();
    assert!(missing.is_resource_not_found_exception(), "{missing:?}");
    client.delete_table().table_name(ORDERS).send().await?;
    println!("rust sdk: all passed");
    Ok(())
}
