import { createInvoice } from '@quittance/invoices/operations/create-invoice';
import type { AssetSymbol } from '@quittance/shared/assets';
import type { ExactJson } from '@quittance/shared/exact-json';
import type { AccountId } from '@quittance/shared/ids';
import { ACCOUNTS } from './accounts.ts';
import type { Environment } from './environment.ts';
import { callOverHttp } from './http-call.ts';
import type { Process } from './process.ts';

/** A customer who pays an invoice: exactly, in parts, too much, too little, late, or with another transaction. */
export async function runCustomer(environment: Environment): Promise<void> {
  const { chance, scheduler, chain } = environment;
  await scheduler.sleep(environment.outside, chance.below(1_000));
  const asset = chance.percent(70) ? (chain.assets[0] as AssetSymbol) : chance.oneOf(chain.assets);
  const account = chance.oneOf(ACCOUNTS);
  const made = await createInvoiceOf(
    (work) => callOverHttp(environment, 'invoices', 'POST /api/invoices', work),
    account,
    asset,
    chance.between(1, 3) * 10,
    chance.oneOf([1, 1, 5]),
  );
  if (made === undefined) return;
  const { address, due } = dueOf(environment, made);
  await scheduler.sleep(environment.outside, chance.below(3_000));
  const pay = (amount: bigint) => {
    const name = chain.pay({ asset, to: address, amount });
    environment.tell(environment.outside, `a customer pays ${amount} ${asset} to ${address}`);
    return name;
  };
  switch (chance.oneOf(['exact', 'exact', 'split', 'over', 'under', 'late', 'replaced', 'twice'] as const)) {
    case 'exact':
      pay(due);
      break;
    case 'split':
      pay(due / 3n);
      await scheduler.sleep(environment.outside, chance.below(30_000));
      pay(due - due / 3n);
      break;
    case 'over':
      pay(due + due / 4n);
      break;
    case 'under':
      pay(due - due / 4n);
      break;
    case 'late':
      await scheduler.sleep(environment.outside, chance.below(180_000));
      pay(due);
      break;
    case 'replaced': {
      const first = pay(due);
      await scheduler.sleep(environment.outside, chance.below(15_000));
      chain.replace(first);
      if (chance.percent(50)) pay(due);
      break;
    }
    case 'twice':
      pay(due);
      pay(due);
      break;
  }
}

type Call = <T>(
  work: (process: Process) => Promise<T>,
) => Promise<{ value: T } | { error: unknown } | undefined>;

/** POST /api/invoices. The invoice's id, when one was made and the answer was heard. */
export async function createInvoiceOf(
  call: Call,
  account: AccountId,
  asset: AssetSymbol,
  dollars: number,
  minutes: number,
): Promise<string | undefined> {
  const heard = await call(async (process) => {
    const ports = process.replica.invoices;
    if (ports === undefined) throw new Error('invoices makes invoices');
    const body = { asset, amount: `${dollars}`, expires_in: `${minutes}` } as ExactJson;
    return await createInvoice(ports, { account, body, key: undefined, requestId: 'req_invoice' });
  });
  if (heard === undefined || 'error' in heard) return undefined;
  if (!heard.value.ok) throw new Error(`an invoice was refused: ${JSON.stringify(heard.value.refusal)}`);
  return (heard.value.value.body as { data: { id: string } }).data.id;
}

export function dueOf({ database }: Environment, invoice: string): { address: string; due: bigint } {
  const [row] = database.run(
    'invoices',
    'select address, amount_due from invoices where id = $1',
    [invoice],
    false,
  );
  return { address: row?.['address'] as string, due: BigInt(row?.['amount_due'] as string) };
}
