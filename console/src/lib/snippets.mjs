// A request as code: the command line and SDKs of the original protocol, with this daemon as their endpoint.

import { typeOf } from './values.mjs';

const endpoint = () => location.origin;
const member = (name) => name[0].toLowerCase() + name.slice(1);
const text = (value) => JSON.stringify(value);

// `'` cannot stand within quotes of the shell.
export const shellQuoted = (value) => (/^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`);
const kebab = (name) => name.replace(/(?<!^)([A-Z])/g, '-$1').toLowerCase();

export function commandLine(operation, request) {
  const options = Object.entries(request).map(([name, value]) => {
    if (name === 'ScanIndexForward') return '--no-scan-index-forward';
    if (value === true) return `--${kebab(name)}`;
    return `--${kebab(name)} ${shellQuoted(typeof value === 'object' ? text(value) : String(value))}`;
  });
  return [`aws dynamodb ${kebab(operation)} --endpoint-url ${endpoint()}`, ...options].join(' \\\n  ');
}

export const json = (operation, request) => JSON.stringify(request, null, 2);

// --- Python and JavaScript

const PYTHON = {
  none: 'None', yes: 'True', no: 'False', step: '    ', comma: ',', name: text,
  bytes: (base64) => `base64.b64decode(${text(base64)})`,
};
const JAVASCRIPT = {
  none: 'null', yes: 'true', no: 'false', step: '  ', comma: ',',
  name: (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : text(name)),
  bytes: (base64) => `Buffer.from(${text(base64)}, "base64")`,
};

// SDKs take binaries as bytes: the content of B and BS of a typed value.
function binaries(value, style) {
  const [type, content] = Object.entries(value)[0] ?? [];
  if (type === 'B' && typeof content === 'string') return style.bytes(content);
  if (type === 'BS' && Array.isArray(content)) return `[${content.map(style.bytes).join(', ')}]`;
  return null;
}

function literal(value, style, indent) {
  if (value === null) return style.none;
  if (typeof value === 'boolean') return value ? style.yes : style.no;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return text(value);
  const inner = indent + style.step;
  const isList = Array.isArray(value);
  const written = isList ? null : binaries(value, style);
  const parts = isList
    ? value.map((each) => literal(each, style, inner))
    : Object.entries(value).map(([name, each]) => `${style.name(name)}: ${written ?? literal(each, style, inner)}`);
  const [open, close] = isList ? '[]' : '{}';
  const blank = isList || style === PYTHON || parts.length === 0 ? '' : ' ';
  const line = `${open}${blank}${parts.join(', ')}${blank}${close}`;
  if (line.length + indent.length < 90 && !line.includes('\n')) return line;
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}${style.comma}\n${indent}${close}`;
}

export function python(operation, request) {
  const lines = Object.entries(request).map(([name, value]) => `    ${name}=${literal(value, PYTHON, '    ')},`);
  const method = kebab(operation).replaceAll('-', '_');
  const needsBase64 = lines.some((line) => line.includes('base64.b64decode('));
  return [
    ...(needsBase64 ? ['import base64', ''] : []), 'import boto3', '',
    `client = boto3.client("dynamodb", endpoint_url=${text(endpoint())}, region_name="local")`,
    `answer = client.${method}(`, ...lines, ')',
  ].join('\n');
}

export const javascript = (operation, request) => [
  `import { DynamoDBClient, ${operation}Command } from "@aws-sdk/client-dynamodb";`, '',
  `const client = new DynamoDBClient({ endpoint: ${text(endpoint())}, region: "local" });`,
  `const answer = await client.send(new ${operation}Command(${literal(request, JAVASCRIPT, '')}));`,
].join('\n');

// --- Go

function goValue(value) {
  const type = typeOf(value);
  const content = value[type];
  const written = {
    S: () => text(content), N: () => text(content), BOOL: () => String(content), NULL: () => 'true',
    B: () => `decode(${text(content)})`, SS: () => `[]string{${content.map(text).join(', ')}}`,
    NS: () => `[]string{${content.map(text).join(', ')}}`,
    BS: () => `[][]byte{${content.map((each) => `decode(${text(each)})`).join(', ')}}`,
    L: () => `[]types.AttributeValue{${content.map(goValue).join(', ')}}`,
    M: () => `map[string]types.AttributeValue{${
      Object.keys(content).map((name) => `${text(name)}: ${goValue(content[name])}`).join(', ')}}`,
  }[type]();
  return `&types.AttributeValueMember${type}{Value: ${written}}`;
}

function goField(name, value) {
  if (name === 'ExpressionAttributeNames') {
    const entries = Object.entries(value).map(([place, each]) => `\t\t${text(place)}: ${text(each)},\n`);
    return `map[string]string{\n${entries.join('')}\t}`;
  }
  if (name === 'ExpressionAttributeValues') {
    const entries = Object.entries(value).map(([place, each]) => `\t\t${text(place)}: ${goValue(each)},\n`);
    return `map[string]types.AttributeValue{\n${entries.join('')}\t}`;
  }
  if (typeof value === 'string') return `aws.String(${text(value)})`;
  return typeof value === 'number' ? `aws.Int32(${value})` : `aws.Bool(${value})`;
}

export function go(operation, request) {
  const fields = Object.entries(request).map(([name, value]) => `\t${name}: ${goField(name, value)},`);
  return [
    'cfg, err := config.LoadDefaultConfig(ctx, config.WithRegion("local"))',
    'if err != nil {', '\treturn err', '}',
    'client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {',
    `\to.BaseEndpoint = aws.String(${text(endpoint())})`, '})',
    `answer, err := client.${operation}(ctx, &dynamodb.${operation}Input{`, ...fields, '})',
  ].join('\n');
}

// --- Java

function javaValue(value) {
  const type = typeOf(value);
  const content = value[type];
  const bytes = (each) => `SdkBytes.fromByteArray(Base64.getDecoder().decode(${text(each)}))`;
  return {
    S: () => `AttributeValue.fromS(${text(content)})`, N: () => `AttributeValue.fromN(${text(content)})`,
    BOOL: () => `AttributeValue.fromBool(${content})`, NULL: () => 'AttributeValue.fromNul(true)',
    B: () => `AttributeValue.fromB(${bytes(content)})`,
    SS: () => `AttributeValue.fromSs(List.of(${content.map(text).join(', ')}))`,
    NS: () => `AttributeValue.fromNs(List.of(${content.map(text).join(', ')}))`,
    BS: () => `AttributeValue.fromBs(List.of(${content.map(bytes).join(', ')}))`,
    L: () => `AttributeValue.fromL(List.of(${content.map(javaValue).join(', ')}))`,
    M: () => `AttributeValue.fromM(Map.ofEntries(${
      Object.keys(content).map((name) => `Map.entry(${text(name)}, ${javaValue(content[name])})`).join(', ')}))`,
  }[type]();
}

export function java(operation, request) {
  const calls = Object.entries(request).map(([name, value]) => {
    if (typeof value !== 'object') return `.${member(name)}(${text(value)})`;
    const written = name === 'ExpressionAttributeNames' ? text : javaValue;
    const entries = Object.entries(value).map(([place, each]) => `Map.entry(${text(place)}, ${written(each)})`);
    return `.${member(name)}(Map.ofEntries(\n        ${entries.join(',\n        ')}))`;
  });
  return [
    'DynamoDbClient client = DynamoDbClient.builder()',
    `    .endpointOverride(URI.create(${text(endpoint())})).region(Region.of("local")).build();`,
    `${operation}Response answer = client.${member(operation)}(${operation}Request.builder()`,
    ...calls.map((each) => `    ${each}`), '    .build());',
  ].join('\n');
}

// Name for the user -> function of operation and request.
export const FORMS = {
  JSON: json, 'Command line': commandLine, Python: python, JavaScript: javascript, Go: go, Java: java,
};
