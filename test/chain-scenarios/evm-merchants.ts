import { openWallet } from '@quittance/chains/evm/wallet';
import type { AccountId } from '@quittance/shared/ids';
import type { Hex } from 'viem';
import type { Asset, EvmChain } from './evm-chain.ts';
import { SEED } from './fixture.ts';
import type { MoneyOut } from './money-out.ts';

const DEPOSITS = [
  ['ETH', 100n * 10n ** 18n],
  ['USDC_ERC20', 1_000_000_000n],
] as const;

/**
 * Merchants whose customers paid: what they have lies on deposit addresses. The hot wallet has `hot` wei: with little
 * there, deposits have to be swept.
 */
export async function evmMerchants(
  chain: EvmChain,
  treasury: MoneyOut,
  count: number,
  hot: bigint,
): Promise<AccountId[]> {
  const wallet = openWallet(SEED);
  let nonce = await chain.nonce(1);
  const pay = async (asset: Asset, to: string, amount: bigint) => {
    await chain.mine([await chain.sign(1, nonce++, chain.transfer(asset, to as Hex, amount))]);
    return await chain.client.getBlock();
  };
  await pay('ETH', wallet.hotAddress, hot);
  const accounts: AccountId[] = [];
  for (let index = 0; index < count; index++) {
    const account = treasury.newAccount();
    const address = wallet.depositAddress(index);
    for (const [asset, amount] of DEPOSITS) {
      const { number, hash, transactions } = await pay(asset, address, amount);
      // eslint-disable-next-line no-restricted-syntax -- a height
      const place = { index, address, height: Number(number), blockHash: hash };
      await treasury.credit(account, { asset, amount, outpoint: `${transactions[0]}:0`, ...place });
    }
    accounts.push(account);
  }
  return accounts;
}
