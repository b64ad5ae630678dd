import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceUrl } from '@quittance/shared/migrate';
import { TEST_PASSWORD } from '@quittance/testkit/databases';
import type { TestDatabase } from '@quittance/testkit/engines';
import { printing } from '@quittance/testkit/printed';
import { suiteDatabase } from '@quittance/testkit/suite-database';
import { run } from '../src/run.ts';

/** The command as it is typed in a folder, with these settings and no others. */
export async function quittanceIn(cwd: string, env: Record<string, string>, args: readonly string[]) {
  const { code, said } = startCommand(cwd, env, args);
  const ended = await code;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the command says and asserts on it
  return { code: ended, ...said, json: (): any => JSON.parse(said.out) };
}

/** One that goes on until it is told to stop; `said` is what it has said until now. */
export const startCommand = (
  cwd: string,
  env: Record<string, string>,
  args: readonly string[],
  stopping?: AbortSignal,
) => printing((to) => run(args, { env, cwd, ...to, ...(stopping && { stopping: () => stopping }) }));

type Database = Pick<TestDatabase, 'adminUrl'>;

export const operatorUrl = (database: Database): string =>
  serviceUrl(database.adminUrl, 'operator', TEST_PASSWORD);

/** The command of an operator who is given nothing but the operator's role. */
function operatorOf(database: Database) {
  const env = { OPERATOR_DATABASE_URL: operatorUrl(database) };
  return (args: readonly string[], more: Record<string, string> = {}) =>
    quittanceIn('/', { ...env, ...more }, args);
}

/** For one suite: a database, and the command in an empty folder far from any sandbox. */
export async function commandSuite() {
  const database = await suiteDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'quittance-cli-'));
  database.finally(() => rmSync(folder, { recursive: true, force: true }));
  const env = () => ({
    GATEWAY_DATABASE_URL: database.urlOf('gateway'),
    DATABASE_URL_ADMIN: database.adminUrl,
  });
  return {
    folder,
    env,
    quittance: (args: readonly string[], given: Record<string, string> = env(), cwd = folder) =>
      quittanceIn(cwd, given, args),
  };
}

/** For one suite: a database, and the command of an operator who is given nothing but the operator's role. */
export async function operatorSuite() {
  const database = await suiteDatabase();
  return { database, quittance: operatorOf(database) };
}
