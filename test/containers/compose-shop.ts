import { expect } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually';
import { type Answered, balanced } from './balancer.ts';
import type { ComposeProject } from './compose-project.ts';

const PAID_WITHIN_MS = 90_000;
const BOOKS_WITHIN_MS = 60_000;
const ASK_EVERY_MS = 500;

export type ComposeShop = {
  get(path: string): Promise<Answered>;
  post(path: string, order: object): Promise<Answered>;
  /** An invoice in Ether, paid from the faucet, until it is paid. @returns its id */
  sale(dollars: number): Promise<string>;
  /** In Ether. */
  balance(): Promise<string>;
  close(): void;
};

const dataOf = ({ body }: Answered) => (body as { data: never }).data;

/** A merchant of what compose runs, with an account by the operator's command. */
export async function openShop(project: ComposeProject): Promise<ComposeShop> {
  const { get, post, close } = balanced(project.urls, await project.openAccount('shop'));
  return {
    get,
    post,
    close,
    async sale(dollars) {
      const made = await post('/api/invoices', { asset: 'ETH', amount: dollars });
      expect(made).toMatchObject({ status: 201 });
      const { id, amount, address }: { id: string; amount: string; address: { address: string } } =
        dataOf(made);
      await project.pay('ETH', address.address, amount);
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

/** What `verify-books` prints once everything in flight has arrived. */
export async function expectBooksRight(project: ComposeProject): Promise<void> {
  await eventually(
    async () => {
      const { code, stdout, stderr } = await project.compose(
        'run',
        '--rm',
        '-T',
        'quittance',
        'verify-books',
      );
      expect({ code, said: `${stdout}${stderr}` }).toMatchObject({ code: 0 });
    },
    BOOKS_WITHIN_MS,
    ASK_EVERY_MS,
  );
}
