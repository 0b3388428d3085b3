// A table's definition as code: CreateTable, CloudFormation, Terraform.

import { json, shellQuoted } from './snippets.mjs';

// --- YAML, as much as a template needs

function yaml(value, indent) {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value)) {
    return value.map((each) => `\n${indent}- ${yaml(each, `${indent}  `).trimStart()}`).join('');
  }
  return Object.entries(value).map(([name, each]) => {
    const written = yaml(each, `${indent}  `);
    return `\n${indent}${name}:${written.startsWith('\n') ? written : ` ${written}`}`;
  }).join('');
}

const identifier = (name) => name.replace(/[^A-Za-z0-9]/g, '') || 'Table';

function cloudFormation(request) {
  const { StreamSpecification: stream, ...properties } = request;
  if (stream) properties.StreamSpecification = { StreamViewType: stream.StreamViewType };
  const template = {
    AWSTemplateFormatVersion: '2010-09-09',
    Resources: { [identifier(request.TableName)]: { Type: 'AWS::DynamoDB::Table', Properties: properties } },
  };
  return yaml(template, '').trimStart();
}

// --- Terraform

const names = (schema, type) => schema.filter((each) => each.KeyType === type).map((each) => each.AttributeName);
// A template of Terraform begins with ${ or %{ also within a string.
const hcl = (value) => JSON.stringify(value).replace(/([$%])\{/g, '$1$1{');

function keyLines(schema, isGlobal) {
  const [hash, range] = [names(schema, 'HASH'), names(schema, 'RANGE')];
  if (isGlobal && (hash.length > 1 || range.length > 1)) {
    return schema.flatMap((each) => [
      'key_schema {', `  attribute_name = ${hcl(each.AttributeName)}`, `  key_type       = "${each.KeyType}"`, '}']);
  }
  const rangeLine = range.length > 0 ? [`range_key = ${hcl(range[0])}`] : [];
  return isGlobal || hash.length === 0 ? [`hash_key  = ${hcl(hash[0])}`, ...rangeLine] : rangeLine;
}

function projectionLines(projection) {
  const lines = [`projection_type = "${projection.ProjectionType}"`];
  if (projection.NonKeyAttributes?.length > 0) {
    lines.push(`non_key_attributes = [${projection.NonKeyAttributes.map(hcl).join(', ')}]`);
  }
  return lines;
}

const capacityLines = (throughput) => (throughput === undefined ? [] : [
  `read_capacity  = ${throughput.ReadCapacityUnits}`, `write_capacity = ${throughput.WriteCapacityUnits}`]);
const block = (name, lines) => ['', `${name} {`, ...lines.map((line) => `  ${line}`), '}'];

function terraform(request) {
  const hash = names(request.KeySchema, 'HASH');
  const range = names(request.KeySchema, 'RANGE');
  const lines = [
    `name         = ${hcl(request.TableName)}`, `billing_mode = "${request.BillingMode}"`,
    ...capacityLines(request.ProvisionedThroughput), `hash_key     = ${hcl(hash[0])}`,
    ...(range.length > 0 ? [`range_key    = ${hcl(range[0])}`] : []),
    ...(request.DeletionProtectionEnabled ? ['deletion_protection_enabled = true'] : []),
    ...(request.StreamSpecification
      ? ['stream_enabled   = true', `stream_view_type = "${request.StreamSpecification.StreamViewType}"`] : []),
    ...request.AttributeDefinitions.flatMap((each) =>
      block('attribute', [`name = ${hcl(each.AttributeName)}`, `type = "${each.AttributeType}"`])),
    ...(request.LocalSecondaryIndexes ?? []).flatMap((each) => block('local_secondary_index', [
      `name = ${hcl(each.IndexName)}`, ...keyLines(each.KeySchema, false), ...projectionLines(each.Projection)])),
    ...(request.GlobalSecondaryIndexes ?? []).flatMap((each) => block('global_secondary_index', [
      `name = ${hcl(each.IndexName)}`, ...keyLines(each.KeySchema, true), ...projectionLines(each.Projection),
      ...capacityLines(each.ProvisionedThroughput)])),
  ];
  const resource = request.TableName.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^(?![A-Za-z_])/, '_');
  const body = lines.map((line) => (line ? `  ${line}` : ''));
  return [`resource "aws_dynamodb_table" "${resource}" {`, ...body, '}'].join('\n');
}

const createWithCommandLine = (request) => [
  'aws dynamodb create-table', '--endpoint-url', location.origin, '--cli-input-json',
  shellQuoted(json('CreateTable', request))].join(' ');

// Name for the user -> function of a CreateTable request.
export const TABLE_FORMS = {
  'Command line': createWithCommandLine,
  JSON: (request) => json('CreateTable', request),
  CloudFormation: cloudFormation,
  Terraform: terraform,
};
