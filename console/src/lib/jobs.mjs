// Exports, imports and bulk operations: jobs of the daemon over files.

import { schemaOf } from './table_form.mjs';

// How the operations of each kind are called.
const KINDS = {
  export: {
    noun: 'Export', list: 'ListExports', members: 'ExportSummaries', id: 'ExportArn', status: 'ExportStatus',
    describe: 'DescribeExport', description: 'ExportDescription', limit: 'MaxResults',
  },
  import: {
    noun: 'Import', list: 'ListImports', members: 'ImportSummaryList', id: 'ImportArn', status: 'ImportStatus',
    describe: 'DescribeImport', description: 'ImportTableDescription', limit: 'PageSize',
  },
  bulk: {
    noun: 'Bulk put', list: 'ListBulkOperations', members: 'BulkOperationsSummaryList', id: 'BulkOperationArn',
    status: 'BulkOperationStatus', describe: 'DescribeBulkOperation', description: 'BulkOperationDescription',
    limit: 'MaxResults',
  },
};
export const JOB_KINDS = Object.keys(KINDS);
export const kindOf = (kind) => KINDS[kind];
const PAGE = 25;

export const isRunning = (status) => status === 'IN_PROGRESS' || status === 'CANCELLING';

// A page of the jobs of a kind: {jobs: [{kind, arn, status}], next}. `call`: of api.mjs.
export async function listJobs(call, kind, token, signal) {
  const { list, members, id, status, limit } = KINDS[kind];
  const answer = await call(list, { [limit]: PAGE, ...(token === null ? {} : { NextToken: token }) }, { signal });
  const jobs = (answer[members] ?? []).map((each) => ({ kind, arn: each[id], status: each[status] }));
  return { jobs, next: answer.NextToken ?? null };
}

export async function describeJob(call, { kind, arn }, signal) {
  const { describe, description, id, status } = KINDS[kind];
  const facts = (await call(describe, { [id]: arn }, { signal }))[description];
  return { kind, arn, status: facts[status], facts };
}

const tableOf = (arn) => /:table\/([^/]+)/.exec(arn ?? '')?.[1] ?? '';
const placeOf = (bucket, prefix) => [bucket, prefix].filter(Boolean).join('/');

// Facts of a job for a view: {table, place, began, ended, items, failed, bytes, total, failure}; numbers that are not
// known are null.
export function summaryOf({ kind, arn, facts }) {
  if (facts === undefined) {
    return { table: tableOf(arn), place: '', began: null, ended: null, items: null, failed: 0, bytes: null, total: null, failure: '' };
  }
  const common = {
    began: facts.StartTime ?? null, ended: facts.EndTime ?? null,
    failure: [facts.FailureCode, facts.FailureMessage].filter(Boolean).join(': '),
  };
  if (kind === 'export') {
    return { ...common, table: tableOf(facts.TableArn), place: placeOf(facts.S3Bucket, facts.S3Prefix),
      items: facts.ItemCount ?? null, failed: 0, bytes: facts.BilledSizeBytes ?? null, total: null };
  }
  if (kind === 'import') {
    return { ...common, table: tableOf(facts.TableArn),
      place: placeOf(facts.S3BucketSource?.S3Bucket, facts.S3BucketSource?.S3KeyPrefix),
      items: facts.ImportedItemCount ?? null, failed: facts.ErrorCount ?? 0,
      bytes: facts.ProcessedSizeBytes ?? null, total: null };
  }
  return { ...common, table: facts.TableDetails?.[0]?.TableName ?? '',
    place: placeOf(facts.InputS3Configuration?.S3Bucket, facts.InputS3Configuration?.S3KeyPrefix),
    items: facts.ProcessedItemCount ?? null, failed: facts.FailedItemCount ?? 0,
    bytes: facts.ProcessedInputBytes ?? null, total: facts.TotalInputBytes ?? null };
}

export const COMPRESSIONS = [['NONE', 'none'], ['GZIP', 'gzip'], ['ZSTD', 'zstd']];
export const FORMATS = [['DYNAMODB_JSON', 'JSON lines, typed'], ['CSV', 'CSV']];

const required = (value, field, text) => {
  if (value.trim() === '') throw Object.assign(new Error(text), { field });
  return value.trim();
};
const optional = (name, value) => (value.trim() === '' ? {} : { [name]: value.trim() });
const bucketOf = (form) => required(form.bucket, 'bucket', 'Name the directory.');
const tableIn = (form) => required(form.table, 'table', 'Name the table.');

// Region and account of a daemon are always these.
const arnOf = (table) => (table.startsWith('arn:') ? table : `arn:aws:dynamodb:local:000000000000:table/${table}`);

export const exportRequest = (form) => ({
  TableArn: arnOf(tableIn(form)), S3Bucket: bucketOf(form), ...optional('S3Prefix', form.prefix), ExportFormat: 'DYNAMODB_JSON',
});

export function importRequest(form) {
  const types = new Map();
  const name = tableIn(form);
  const keySchema = schemaOf(form.partition, form.sort, types, 'the table');
  return {
    S3BucketSource: { S3Bucket: bucketOf(form), ...optional('S3KeyPrefix', form.prefix) }, InputFormat: form.format,
    InputCompressionType: form.compression,
    TableCreationParameters: {
      TableName: name, KeySchema: keySchema, BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [...types].map(([attribute, type]) => (
        { AttributeName: attribute, AttributeType: type })),
    },
  };
}

export const bulkRequest = (form) => ({
  TableName: tableIn(form),
  InputS3Configuration: {
    S3Bucket: bucketOf(form), ...optional('S3KeyPrefix', form.prefix), InputFormat: 'DYNAMODB_JSON',
    InputCompressionType: form.compression,
  },
  OutputS3Configuration: {
    S3Bucket: required(form.output, 'output', 'Name the directory.'), OutputType: ['ERROR'],
  },
});

// The field of a form that an error is about, or null.
export function jobField(error) {
  if (error === null) return null;
  if (error.field !== undefined) return error.field;
  const { message } = error;
  if (/output/i.test(message)) return 'output';
  if (/prefix/i.test(message)) return 'prefix';
  if (/bucket|export_dir|import_dir/i.test(message)) return 'bucket';
  if (/table/i.test(message) || /Table|ResourceInUse|PointInTime/.test(error.name)) return 'table';
  return /attribute|key/i.test(message) ? 'key' : null;
}
