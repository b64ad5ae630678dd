import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach } from '@jest/globals';
import { startReceiver } from '@quittance/testkit/receiver';
import { run } from '../src/run.ts';

type Given = {
  env?: Record<string, string>;
  input?: string;
  stop?: AbortSignal;
  /** Is told what the command prints, when it does. */
  hear?: (text: string) => void;
};

/** For one suite: an API that answers what a test wants, and the commands of a merchant there, whose settings are below `home`. */
export async function merchantSuite() {
  const home = mkdtempSync(join(tmpdir(), 'quittance-merchant-'));
  const api = await startReceiver();
  /** What the API answers to a method and a path. */
  const answers: Record<string, object> = {};
  beforeEach(() => {
    for (const name of Object.keys(answers)) delete answers[name];
    answers['GET /api/assets'] = { data: [{ symbol: 'ETH' }] };
    api.received.length = 0;
    api.answer((response, { method, path }) => {
      const body = answers[`${method} ${path.split('?')[0]}`] ?? { message: 'Unauthenticated.' };
      const status =
        'status' in body && typeof body.status === 'number' ? body.status : 'message' in body ? 401 : 200;
      // The client repeats it without waiting.
      if (status === 500) response.setHeader('Retry-After', '0');
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  afterAll(async () => {
    rmSync(home, { recursive: true });
    await api.close();
  });
  const own = { QUITTANCE_URL: api.url, QUITTANCE_TOKEN: 'qt_secret' };
  return {
    home,
    api,
    answers,
    /** Runs one command line, as the merchant with the token qt_secret unless `env` says otherwise. */
    async quittance(args: readonly string[], { env = own, input, stop, hear }: Given = {}) {
      const said = { out: '', err: '' };
      const write = (stream: 'out' | 'err') => (text: string) => {
        said[stream] += text;
        hear?.(text);
      };
      const code = await run(args, {
        ...{ env: { XDG_CONFIG_HOME: home, ...env }, cwd: home },
        out: write('out'),
        err: write('err'),
        input: async () => input,
        ...(stop && { stopping: () => stop }),
      });
      return { code, ...said };
    },
  };
}
