import { type Receiver, startReceiver } from '@quittance/testkit/receiver';
import { run } from '../src/run.ts';

type Given = {
  env?: Record<string, string>;
  input?: string;
  stop?: AbortSignal;
  /** Is told what the command prints, when it does. */
  hear?: (text: string) => void;
};

export type MerchantAt = {
  api: Receiver;
  /** What the API answers to a method and a path. */
  answers: Record<string, object>;
  /** Runs one command line, as the merchant with the token qt_secret unless `env` says otherwise. */
  quittance(
    args: readonly string[],
    given?: Given,
  ): Promise<{ code: Awaited<ReturnType<typeof run>>; out: string; err: string }>;
};

/** An API that answers what a test wants, and the commands of a merchant there. */
export async function merchantAt(home: string): Promise<MerchantAt> {
  const api = await startReceiver();
  const answers: MerchantAt['answers'] = { 'GET /api/assets': { data: [{ symbol: 'ETH' }] } };
  api.answer((response, { method, path }) => {
    const body = answers[`${method} ${path.split('?')[0]}`] ?? { message: 'Unauthenticated.' };
    const status =
      'status' in body && typeof body.status === 'number' ? body.status : 'message' in body ? 401 : 200;
    // The client repeats it without waiting.
    if (status === 500) response.setHeader('Retry-After', '0');
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  const own = { QUITTANCE_URL: api.url, QUITTANCE_TOKEN: 'qt_secret' };
  return {
    api,
    answers,
    async quittance(args, { env = own, input, stop, hear } = {}) {
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
