//! Definitions of tables.
use crate::client::CallOptions;
use crate::{api, Client, Result};

/// An attribute of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyAttribute {
    name: String,
    kind: api::ScalarAttributeType,
}

impl KeyAttribute {
    /// A key attribute of the type S.
    pub fn string(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: api::ScalarAttributeType::S }
    }

    /// A key attribute of the type N.
    pub fn number(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: api::ScalarAttributeType::N }
    }

    /// A key attribute of the type B.
    pub fn binary(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: api::ScalarAttributeType::B }
    }
}

/// The attributes in an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Projection {
    /// All attributes.
    #[default]
    All,
    /// The key attributes of index and table.
    KeysOnly,
    /// These and the key attributes.
    Include(Vec<String>),
}

/// An index with any key: 1 to 4 partition attributes and up to 4 sort attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct GlobalIndex {
    name: String,
    partition: Vec<KeyAttribute>,
    sort: Vec<KeyAttribute>,
    projection: Projection,
}

impl GlobalIndex {
    /// An index with a partition attribute.
    pub fn new(name: impl Into<String>, partition: KeyAttribute) -> Self {
        Self { name: name.into(), partition: vec![partition], sort: Vec::new(), projection: Projection::All }
    }

    /// Adds a partition attribute.
    pub fn partition(mut self, attribute: KeyAttribute) -> Self {
        self.partition.push(attribute);
        self
    }

    /// Adds a sort attribute.
    pub fn sort(mut self, attribute: KeyAttribute) -> Self {
        self.sort.push(attribute);
        self
    }

    /// Sets the attributes in the index.
    pub fn projection(mut self, projection: Projection) -> Self {
        self.projection = projection;
        self
    }
}

/// An index with the partition key of the table and another sort key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct LocalIndex {
    name: String,
    sort: KeyAttribute,
    projection: Projection,
}

impl LocalIndex {
    /// An index with a sort attribute.
    pub fn new(name: impl Into<String>, sort: KeyAttribute) -> Self {
        Self { name: name.into(), sort, projection: Projection::All }
    }

    /// Sets the attributes in the index.
    pub fn projection(mut self, projection: Projection) -> Self {
        self.projection = projection;
        self
    }
}

/// The definition of a table. [`Client::call`] has the rest of the API.
///
/// ```
/// use armature_client::{GlobalIndex, KeyAttribute, TableSchema};
///
/// let orders = TableSchema::new("orders", KeyAttribute::string("customer"))
///     .sort(KeyAttribute::number("number"))
///     .global_index(GlobalIndex::new("by_status", KeyAttribute::string("status")).sort(KeyAttribute::number("total")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct TableSchema {
    name: String,
    partition: KeyAttribute,
    sort: Option<KeyAttribute>,
    global: Vec<GlobalIndex>,
    local: Vec<LocalIndex>,
    stream: Option<api::StreamViewType>,
    time_to_live: Option<String>,
    provisioned: Option<(i64, i64)>,
}

impl TableSchema {
    /// A table with a partition key, which is paid per request.
    pub fn new(name: impl Into<String>, partition: KeyAttribute) -> Self {
        Self {
            name: name.into(),
            partition,
            sort: None,
            global: Vec::new(),
            local: Vec::new(),
            stream: None,
            time_to_live: None,
            provisioned: None,
        }
    }

    /// Sets the sort key.
    pub fn sort(mut self, attribute: KeyAttribute) -> Self {
        self.sort = Some(attribute);
        self
    }

    /// Adds a global index.
    pub fn global_index(mut self, index: GlobalIndex) -> Self {
        self.global.push(index);
        self
    }

    /// Adds a local index.
    pub fn local_index(mut self, index: LocalIndex) -> Self {
        self.local.push(index);
        self
    }

    /// Enables the stream, which watches need.
    pub fn stream(mut self, images: api::StreamViewType) -> Self {
        self.stream = Some(images);
        self
    }

    /// Sets the attribute with the time of expiry, in seconds since 1970.
    pub fn time_to_live(mut self, attribute: impl Into<String>) -> Self {
        self.time_to_live = Some(attribute.into());
        self
    }

    /// Sets the capacity units per second of the table and of each global index, beyond which calls are throttled.
    pub fn provisioned(mut self, read: i64, write: i64) -> Self {
        self.provisioned = Some((read, write));
        self
    }

    fn request(self) -> api::CreateTableRequest {
        let throughput = self.provisioned.map(|(read, write)| api::ProvisionedThroughput {
            read_capacity_units: Some(read),
            write_capacity_units: Some(write),
        });
        let mut keys = Keys::default();
        let key_schema = keys.schema(std::slice::from_ref(&self.partition), self.sort.as_slice());
        let global_secondary_indexes = self.global.into_iter().map(|index| api::GlobalSecondaryIndex {
            key_schema: keys.schema(&index.partition, &index.sort),
            index_name: index.name,
            projection: Some(index.projection.message()),
            provisioned_throughput: throughput,
            ..Default::default()
        });
        let global_secondary_indexes = global_secondary_indexes.collect();
        let local_secondary_indexes = self.local.into_iter().map(|index| api::LocalSecondaryIndex {
            key_schema: keys.schema(std::slice::from_ref(&self.partition), &[index.sort]),
            index_name: index.name,
            projection: Some(index.projection.message()),
        });
        let local_secondary_indexes = local_secondary_indexes.collect();
        let billing_mode =
            if throughput.is_some() { api::BillingMode::Provisioned } else { api::BillingMode::PayPerRequest };
        api::CreateTableRequest {
            table_name: self.name,
            attribute_definitions: keys.definitions,
            key_schema,
            billing_mode: billing_mode.into(),
            provisioned_throughput: throughput,
            local_secondary_indexes,
            global_secondary_indexes,
            stream_specification: self.stream.map(|images| api::StreamSpecification {
                stream_enabled: Some(true),
                stream_view_type: images.into(),
                ..Default::default()
            }),
            ..Default::default()
        }
    }
}

/// Attributes of all keys of a table.
#[derive(Default)]
struct Keys {
    definitions: Vec<api::AttributeDefinition>,
}

impl Keys {
    fn schema(&mut self, partition: &[KeyAttribute], sort: &[KeyAttribute]) -> Vec<api::KeySchemaElement> {
        let parts = partition.iter().map(|attribute| (attribute, api::KeyType::Hash));
        let parts = parts.chain(sort.iter().map(|attribute| (attribute, api::KeyType::Range)));
        let elements = parts.map(|(attribute, key_type)| {
            if !self.definitions.iter().any(|known| known.attribute_name == attribute.name) {
                self.definitions.push(api::AttributeDefinition {
                    attribute_name: attribute.name.clone(),
                    attribute_type: attribute.kind.into(),
                });
            }
            api::KeySchemaElement { attribute_name: attribute.name.clone(), key_type: key_type.into() }
        });
        elements.collect()
    }
}

impl Projection {
    fn message(self) -> api::Projection {
        let (kind, non_key_attributes) = match self {
            Self::All => (api::ProjectionType::All, Vec::new()),
            Self::KeysOnly => (api::ProjectionType::KeysOnly, Vec::new()),
            Self::Include(names) => (api::ProjectionType::Include, names),
        };
        api::Projection { projection_type: kind.into(), non_key_attributes }
    }
}

impl Client {
    /// Creates a table and waits until it and its indexes are ACTIVE. The exception ResourceInUse: the name is in use.
    pub async fn create_table(&self, schema: TableSchema) -> Result<()> {
        let deadline = self.deadline(None)?;
        let (name, time_to_live) = (schema.name.clone(), schema.time_to_live.clone());
        self.call_until(&schema.request(), CallOptions::default(), deadline).await?;
        self.wait_until_active(&name, deadline).await?;
        let Some(attribute) = time_to_live else {
            return Ok(());
        };
        let request = api::UpdateTimeToLiveRequest {
            table_name: name,
            time_to_live_specification: Some(api::TimeToLiveSpecification {
                enabled: Some(true),
                attribute_name: attribute,
            }),
        };
        self.call_until(&request, CallOptions::default(), deadline).await?;
        Ok(())
    }

    /// Deletes a table and waits until it is gone.
    pub async fn delete_table(&self, name: &str) -> Result<()> {
        let deadline = self.deadline(None)?;
        let request = api::DeleteTableRequest { table_name: name.to_owned() };
        self.call_until(&request, CallOptions::default(), deadline).await?;
        self.wait_until_gone(name, deadline).await
    }

    /// Returns keys, indexes, settings, state and size of a table.
    pub async fn describe_table(&self, name: &str) -> Result<api::TableDescription> {
        let response = self.call(&api::DescribeTableRequest { table_name: name.to_owned() }).await?;
        Ok(response.table.unwrap_or_default())
    }

    /// Returns the names of all tables, in the order of their bytes.
    pub async fn list_tables(&self) -> Result<Vec<String>> {
        let mut request = api::ListTablesRequest::default();
        let mut names = Vec::new();
        loop {
            let response = self.call(&request).await?;
            names.extend(response.table_names);
            if response.last_evaluated_table_name.is_none() {
                return Ok(names);
            }
            request.exclusive_start_table_name = response.last_evaluated_table_name;
        }
    }
}
