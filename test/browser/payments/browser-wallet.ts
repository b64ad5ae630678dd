import { beforeAll, expect, test } from '@jest/globals';
import type { Open } from '@quittance/browser/in-browser';
import type { Visit } from '@quittance/browser/visit';
import { eventually } from '@quittance/testkit/eventually';
import type { Merchant } from '@quittance/testkit/merchant';
import type { Quittance } from '@quittance/testkit/quittance';
import { CONFIRMATIONS, type OnStack } from '../on-stack.ts';

/** Payments by a wallet of the browser (EIP-6963), on a stack with Ethereum. */

type Asked = { method: string; params?: unknown[] };
type Made = { url: string; address: { address: string } };

export function browserWalletCases(stack: OnStack, open: Open): void {
  let quittance: Quittance;
  let shop: Merchant;
  beforeAll(async () => {
    quittance = stack();
    shop = await quittance.merchant();
  });

  async function invoice(): Promise<Made> {
    const answer = await shop.post('/api/invoices', { asset: 'ETH', amount: 25 });
    expect(answer.status).toBe(201);
    return answer.body.data;
  }
  const pay = ({ address }: Made, amount: string) => quittance.ethereum.pay('ETH', address.address, amount);
  const mineAll = () => quittance.ethereum.mine(CONFIRMATIONS + 1);

  /** A page with a wallet of the browser, which names itself (EIP-6963). */
  async function withWallet(
    url: string,
    name: string,
    answer: (asked: Asked) => Promise<unknown>,
  ): Promise<Visit> {
    const visit = await open(url);
    const { page } = visit;
    await page.exposeFunction('askWallet', async (asked: Asked) => {
      try {
        return { result: await answer(asked) };
      } catch (error) {
        // Of an error that is thrown across this border only the message arrives.
        return { error: { code: (error as { code?: number }).code } };
      }
    });
    await page.addInitScript(`(() => {
      const provider = {
        async request(asked) {
          const { result, error } = await window.askWallet(asked);
          if (error) throw error;
          return result;
        },
      };
      const info = { uuid: '1', name: ${JSON.stringify(name)}, icon: 'data:,', rdns: 'example.wallet' };
      const detail = Object.freeze({ info, provider });
      const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
      addEventListener('eip6963:requestProvider', announce);
      announce();
    })();`);
    await page.goto(url);
    return visit;
  }

  test('have a wallet of the browser send exactly the amount, on the right network, and ask it once', async () => {
    const one = await invoice();
    const asked: Asked[] = [];
    const from = '0x00000000000000000000000000000000000000aa';
    let chain = '0x1';
    let isPaid = false;
    const visit = await withWallet(one.url, '<img src=x onerror=alert(1)>', async (request) => {
      asked.push(request);
      switch (request.method) {
        case 'eth_requestAccounts':
          return [from];
        case 'eth_chainId':
          return chain;
        case 'wallet_switchEthereumChain':
          chain = (request.params as [{ chainId: string }])[0].chainId;
          return null;
        default:
          await pay(one, '0.01');
          isPaid = true;
          return `0x${'1'.repeat(64)}`;
      }
    });
    const { page } = visit;
    // The page closes its stream as soon as nothing changes any more.
    visit.expectProblem(/\/events\?.*ERR_ABORTED/);
    await page.getByRole('button', { name: 'Pay with <img src=x onerror=alert(1)>' }).click();
    await eventually(() => expect(isPaid).toBe(true));
    await mineAll();
    await page.getByText('Thank you').first().waitFor();
    expect(await page.getByRole('button', { name: /Pay with/ }).count()).toBe(0);
    expect(asked.map(({ method }) => method)).toEqual([
      ...['eth_requestAccounts', 'eth_chainId', 'wallet_switchEthereumChain', 'eth_chainId'],
      'eth_sendTransaction',
    ]);
    const to = one.address.address.toLowerCase();
    expect(asked.at(-1)?.params).toEqual([
      { from, to, value: '0x2386f26fc10000', data: '0x', chainId: chain },
    ]);
  });

  test('say in plain words what a wallet refuses, and let it be asked again', async () => {
    const { url } = await invoice();
    let code = 0;
    const { page } = await withWallet(url, 'Purse', async () => {
      throw Object.assign(new Error('refused'), { code });
    });
    const button = page.getByRole('button', { name: 'Pay with Purse' });
    for (const [error, text] of [
      [4001, 'You have declined in the wallet. Nothing was paid.'],
      [4902, /Please choose the network Ethereum/],
      [-32603, /Your wallet reports a problem/],
    ] as const) {
      code = error;
      await button.click();
      await page.locator('.wallets').getByText(text).waitFor();
      expect(await button.isEnabled()).toBe(true);
    }
  });

  test('keep a wallet from being asked twice that may have sent the payment, unless it says that its owner declined', async () => {
    const { url } = await invoice();
    let code = 4001;
    const { page } = await withWallet(url, 'Purse', async ({ method }) => {
      if (method === 'eth_requestAccounts') return ['0x00000000000000000000000000000000000000aa'];
      if (method === 'eth_chainId') return page.locator('main').getAttribute('data-chain');
      throw Object.assign(new Error('refused'), { code });
    });
    const button = page.getByRole('button', { name: 'Pay with Purse' });
    const said = (text: string | RegExp) => page.locator('.wallets').getByText(text).waitFor();
    await button.click();
    await said('You have declined in the wallet. Nothing was paid.');
    expect(await button.isEnabled()).toBe(true);
    // As a wallet says it that knows the network no more, or whose node did not answer.
    code = 4902;
    await button.click();
    await said(/It may have sent the payment/);
    expect(await button.isDisabled()).toBe(true);
  });
}
