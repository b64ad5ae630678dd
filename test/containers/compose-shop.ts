import { expect } from '@jest/globals';
import { type ComposeStack, type Container, composeStack } from '@quittance/stack/compose-stack';
import { imageNames } from '@quittance/stack/container-images';
import { eventually } from '@quittance/testkit/eventually';
import { type Answered, balanced } from './balancer.ts';

const REPLICAS_MAX = 3;
const PAID_WITHIN_MS = 90_000;
const BOOKS_WITHIN_MS = 60_000;
const ASK_EVERY_MS = 500;

/** Those that are to run more than once. */
export const scaled = ['gateway', 'invoices', 'payouts', 'ledger', 'webhooks', 'auditor'] as const;
export const twice = Object.fromEntries(scaled.map((service) => [service, 2]));

export type ComposeShop = ComposeStack & {
  /** Of one service, those that run. */
  running(service: string): Promise<Container[]>;
  /** A merchant's account by the operator's command, and what it asks the gateways, each in its turn. */
  open(): Promise<Merchant>;
  /** Once everything in flight has arrived, `verify-books` finds nothing wrong. */
  expectBooksRight(): Promise<void>;
};

export type Merchant = {
  get(path: string): Promise<Answered>;
  post(path: string, order: object): Promise<Answered>;
  /** An invoice in Ether, paid from the faucet, until it is paid. @returns its id */
  sale(dollars: number): Promise<string>;
  /** In Ether. */
  balance(): Promise<string>;
  close(): void;
};

const dataOf = ({ body }: Answered) => (body as { data: never }).data;

/** What operators run, docker-compose.yml, on ports of its own. */
export async function composeShop(firstPort: number): Promise<ComposeShop> {
  const stack = await composeStack({
    images: imageNames,
    say: (line) => process.stdout.write(`${line}\n`),
    settings: () => ({
      GATEWAY_PORT: `127.0.0.1:${firstPort}-${firstPort + REPLICAS_MAX - 1}`,
      RATE_LIMIT_PER_MINUTE: '1000000',
      // The signer waits for a check after each deposit.
      CHECK_EVERY_MS: '2000',
      CHAINS_EVERY_MS: '2000',
      CONNECTIONS_PER_CLIENT: '100000',
    }),
  });
  const operator = ['run', '--rm', '-T', 'quittance'];
  const urls = Array.from({ length: REPLICAS_MAX }, (_, i) => `http://127.0.0.1:${firstPort + i}`);
  return {
    ...stack,
    running: async (service) =>
      (await stack.containers()).filter((one) => one.service === service && one.state === 'running'),
    async open() {
      await stack.must(...operator, 'account', 'create', 'shop');
      const made = await stack.must(...operator, 'token', 'create', 'shop', '--name', 'server', '--json');
      return merchant(stack, balanced(urls, (JSON.parse(made) as { token: string }).token));
    },
    expectBooksRight: () =>
      eventually(
        async () => {
          const { code, stdout, stderr } = await stack.compose(...operator, 'verify-books');
          expect({ code, said: `${stdout}${stderr}` }).toMatchObject({ code: 0 });
        },
        BOOKS_WITHIN_MS,
        ASK_EVERY_MS,
      ),
  };
}

function merchant(stack: ComposeStack, { get, post, close }: ReturnType<typeof balanced>): Merchant {
  return {
    get,
    post,
    close,
    async sale(dollars) {
      const made = await post('/api/invoices', { asset: 'ETH', amount: dollars });
      expect(made).toMatchObject({ status: 201 });
      const { id, amount, address }: { id: string; amount: string; address: { address: string } } =
        dataOf(made);
      const pay = ['node', '/app/start.ts', 'pay', 'ETH', address.address, amount];
      await stack.must('exec', '-T', 'chains', ...pay);
      await eventually(
        async () => expect((await get(`/api/invoices/${id}`)).body).toMatchObject({ status: 'paid' }),
        PAID_WITHIN_MS,
        ASK_EVERY_MS,
      );
      return id;
    },
    async balance() {
      const balances: { asset: { symbol: string }; balance: string }[] = dataOf(await get('/api/balances'));
      return balances.find(({ asset }) => asset.symbol === 'ETH')?.balance ?? '0';
    },
  };
}
