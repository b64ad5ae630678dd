import { readFileSync } from 'node:fs';
import type { Db } from '@quittance/shared/db';
import { type Service, services } from '@quittance/shared/events';
import { type Drift, describeSchema, driftOf, parseSnapshot } from '@quittance/shared/schema-snapshot';
import { bad, type Finding, ok } from './finding.ts';

/** The snapshot of this release, which tools/schema-snapshots.ts writes. */
const snapshotOf = (service: Service): string =>
  readFileSync(new URL(`../../../../services/${service}/schema.sql`, import.meta.url), 'utf8');

/** The difference between a running database and what the migrations of this release make. */
export async function checkSchemas(db: Db): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const service of services) {
    const drifts = driftOf(parseSnapshot(snapshotOf(service)), await describeSchema(db, service));
    if (drifts.length === 0) found.push(ok('schema', service, 'as its migrations make it'));
    else found.push(...drifts.flatMap(findingsOf));
  }
  return found;
}

function findingsOf({ object, missing, unexpected }: Drift): Finding[] {
  return [
    ...missing.map((line) =>
      bad('problem', 'schema', object, `missing: ${line}`, 'Create it again as it is written here.'),
    ),
    ...unexpected.map((line) =>
      bad(
        'problem',
        'schema',
        object,
        `not of this release: ${line}`,
        'Remove it, or keep it and expect the next migration to fail on it.',
      ),
    ),
  ];
}
