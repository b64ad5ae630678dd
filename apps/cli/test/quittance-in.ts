import { serviceUrl } from '@quittance/shared/migrate';
import { TEST_PASSWORD } from '@quittance/testkit/databases';
import type { TestDatabase } from '@quittance/testkit/engines';
import { run } from '../src/run.ts';

/** The command as the operator types it who is given nothing but the operator's role. */
export function operatorOf(database: TestDatabase) {
  const env = { OPERATOR_DATABASE_URL: serviceUrl(database.adminUrl, 'operator', TEST_PASSWORD) };
  return async (args: readonly string[], more: Record<string, string> = {}) => {
    let out = '';
    let err = '';
    const code = await run(args, {
      env: { ...env, ...more },
      cwd: '/',
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the command says and asserts on it
    return { code, out, err, json: (): any => JSON.parse(out) };
  };
}
