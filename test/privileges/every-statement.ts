import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { openDb } from '@quittance/shared/db';
import { type Service, services } from '@quittance/shared/events';
import { createLogger } from '@quittance/shared/logger';
import { serviceUrl } from '@quittance/shared/migrate';
import { type Named, planStatements } from './plan-statements.ts';

/*
 * node test/privileges/every-statement.ts [<superuser's URL of a migrated database> <password of the roles>]
 *
 * Without a database it prints the statements.
 * Has Postgres plan each named statement of each service as that service's role, which needs the same rights as to run
 * it. Prints how many there were and which were refused. A process of its own: it loads the services' code with a
 * `statement` that remembers.
 */

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

const refused: string[] = [];
const found: Partial<Record<Service, Named[]>> = {};
let asked = 0;
const shared = (await statementsOf('packages/shared/src')).map((one): Named => ({ ...one, isShared: true }));
for (const service of services) {
  found[service] = [...(await statementsOf(`services/${service}/src`)), ...shared];
  if (adminUrl === '') continue;
  const db = openDb({
    url: serviceUrl(adminUrl, service, password),
    schema: service,
    pool: 1,
    logger: createLogger('test', 'error'),
  });
  const planned = await planStatements(db, found[service]);
  asked += planned.asked;
  refused.push(...planned.refused.map((why) => `${service} ${why}`));
  await db.close();
}
process.stdout.write(JSON.stringify(adminUrl === '' ? found : { asked, refused }));
