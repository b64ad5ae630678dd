import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { serviceUrl } from '@quittance/shared/migrate';
import { TEST_PASSWORD } from '@quittance/testkit/databases';
import { type TestDatabase, testDatabase } from '@quittance/testkit/engines';
import { run } from '../src/run.ts';

/** The command as it is typed in a folder, with these settings and no others. */
async function quittanceIn(cwd: string, env: Record<string, string>, args: readonly string[]) {
  let out = '';
  let err = '';
  const code = await run(args, {
    env,
    cwd,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the command says and asserts on it
  return { code, out, err, json: (): any => JSON.parse(out) };
}

export const operatorUrl = (database: TestDatabase): string =>
  serviceUrl(database.adminUrl, 'operator', TEST_PASSWORD);

/** The command of an operator who is given nothing but the operator's role. */
export function operatorOf(database: TestDatabase) {
  const env = { OPERATOR_DATABASE_URL: operatorUrl(database) };
  return (args: readonly string[], more: Record<string, string> = {}) =>
    quittanceIn('/', { ...env, ...more }, args);
}

/** Gives the tests of a suite a database, and the command in an empty folder far from any sandbox. */
export function commandSuite() {
  let database: TestDatabase;
  const folder = mkdtempSync(join(tmpdir(), 'quittance-cli-'));
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await database?.drop();
  });
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
