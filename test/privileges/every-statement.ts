import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Db, openDb } from '@quittance/shared/db';
import { services } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import { serviceUrl } from '@quittance/shared/migrate';

/*
 * node test/privileges/every-statement.ts <superuser's URL of a migrated database> <password of the roles>
 *
 * Has Postgres plan each named statement of each service as that service's role, which needs the same rights as to run
 * it. Prints how many there were and which were refused. A process of its own: it loads the services' code with a
 * `statement` that remembers.
 */

type Named = { name: string; text: string };
const [adminUrl = '', password = ''] = process.argv.slice(2);
const root = fileURLToPath(new URL('../../', import.meta.url));
const collected: Named[] = [];
(globalThis as { collected?: Named[] }).collected = collected;

const remembering = 'globalThis.collected.push({ name, text }), { name, text }';
registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/packages/shared/src/db.ts?remembering')) return next(url, context);
    const source = readFileSync(fileURLToPath(url.replace(/\?.*/, '')), 'utf8');
    const changed = source.replace('Statement => ({ name, text })', `Statement => (${remembering})`);
    if (changed === source) throw new Error('db.ts makes statements in another way: tell it here');
    return { format: 'module-typescript', source: changed, shortCircuit: true };
  },
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isDb = found.url.endsWith('/packages/shared/src/db.ts') && context.parentURL !== import.meta.url;
    return isDb ? { ...found, url: `${found.url}?remembering` } : found;
  },
});

async function statementsOf(folder: string): Promise<Named[]> {
  const files = readdirSync(root + folder, { recursive: true, encoding: 'utf8' });
  for (const file of files) {
    if (file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'main.ts') {
      await import(`${root}${folder}/${file}`);
    }
  }
  return collected.splice(0);
}

/** GENERIC_PLAN is of Postgres 16. Before, a statement is prepared, and its plan for all values is asked for. */
async function plan(db: Db, text: string): Promise<void> {
  if (hasGenericPlan) {
    await db.rows(`explain (generic_plan) ${text}`);
    return;
  }
  const name = `planned_${++prepared}`;
  await db.transaction(async (trx) => {
    await trx.rows('set local plan_cache_mode = force_generic_plan');
    await trx.rows(`prepare ${name} as ${text}`);
    const { values } = await trx.one<{ values: number }>(
      `select cardinality(parameter_types) as values from pg_prepared_statements where name = '${name}'`,
    );
    const nulls = values === 0 ? '' : `(${Array.from({ length: values }, () => 'null').join(', ')})`;
    await trx.rows(`explain execute ${name}${nulls}`);
  });
}

let prepared = 0;
let hasGenericPlan = true;
const UNDEFINED_TABLE = '42P01';
const refused: string[] = [];
let asked = 0;
const shared = await statementsOf('packages/shared/src');
for (const service of services) {
  const own = await statementsOf(`services/${service}/src`);
  const db = openDb({
    url: serviceUrl(adminUrl, service, password),
    schema: service,
    pool: 1,
    logger: createLogger('test', 'error'),
  });
  const { version } = await db.one<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  );
  hasGenericPlan = version >= 160_000;
  for (const { name, text } of [...own, ...shared]) {
    // These have no plan; the cursor that is fetched from has one where it is declared.
    if (/^\s*(?:truncate|fetch)\b/i.test(text)) continue;
    try {
      await plan(db, text);
      asked += 1;
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      // Not every service has every table that the shared code knows.
      if (code === UNDEFINED_TABLE && shared.some((one) => one.name === name)) continue;
      refused.push(`${service} ${name}: ${message}`);
    }
  }
  await db.close();
}
process.stdout.write(JSON.stringify({ asked, refused }));
