# The queries of the orders dashboard as printed in its documentation; the first has a documented answer. Sourced by
# clients_test.py, where `aws` is the command line with this daemon as its endpoint.

aws dynamodb query \
    --table-name orders-table \
    --index-name OrdersByStatusDateAmount \
    --key-condition-expression "customer_id = :cust" \
    --expression-attribute-values '{
        ":cust": {"S": "1A2B3C"}
    }'

aws dynamodb query \
    --table-name orders-table \
    --index-name OrdersByStatusDateAmount \
    --key-condition-expression "customer_id = :cust AND #status = :status" \
    --expression-attribute-names '{"#status": "status"}' \
    --expression-attribute-values '{
        ":cust": {"S": "1A2B3C"},
        ":status": {"S": "PENDING"}
    }'

aws dynamodb query \
    --table-name orders-table \
    --index-name OrdersByStatusDateAmount \
    --key-condition-expression "customer_id = :cust AND #status = :status AND order_date = :date" \
    --expression-attribute-names '{"#status": "status"}' \
    --expression-attribute-values '{
        ":cust": {"S": "1A2B3C"},
        ":status": {"S": "PENDING"},
        ":date": {"S": "2025-11-04"}
    }'

aws dynamodb query \
    --table-name orders-table \
    --index-name OrdersByStatusDateAmount \
    --key-condition-expression "customer_id = :cust AND #status = :status AND order_date = :date AND amount > :min_amount" \
    --expression-attribute-names '{"#status": "status"}' \
    --expression-attribute-values '{
        ":cust": {"S": "1A2B3C"},
        ":status": {"S": "PENDING"},
        ":date": {"S": "2025-11-04"},
        ":min_amount": {"N": "100"}
    }'
