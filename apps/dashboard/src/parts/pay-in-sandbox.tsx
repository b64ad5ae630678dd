import { Button, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { type Invoice, isPayable, type PayInSandbox as TestMoney } from '@quittance/client';
import { useMutation } from '@tanstack/react-query';
import { quittance } from '../client.ts';
import { readAgain } from '../queries.ts';
import { useMay, useSession } from '../session/session.ts';
import { compare, grouped, subtract } from './decimal.ts';
import { Failure } from './failure.tsx';
import { assetName } from './values.tsx';

/** Pays an invoice with test money. There is none of it outside a sandbox, and nothing of this. */
export function PayInSandbox({ invoice }: { invoice: Invoice }) {
  const { sandbox: isSandbox } = useSession();
  const mayPay = useMay('invoices:write');
  const pay = useMutation({
    mutationFn: (payment: TestMoney) => quittance.sandbox.pay(payment),
    onSuccess: async ({ amount, asset }) => {
      notifications.show({ message: `${grouped(amount)} ${assetName(asset)} of test money were sent.` });
      await readAgain('invoices');
    },
  });
  if (!isSandbox || !mayPay || (invoice.status !== 'pending' && invoice.status !== 'partially_paid'))
    return null;
  if (!isPayable(invoice))
    return (
      <Text size="sm">Choose an asset on its payment page: then a button here pays it with test money.</Text>
    );
  const amount = subtract(subtract(invoice.amount, invoice.paid_amount), invoice.pending_amount);
  if (compare(amount, '0') <= 0) return null;
  const payment = { asset: invoice.asset.symbol, address: invoice.address.address, amount };
  const { asset, address } = payment;
  // What is shown may be from before the payment: nobody pays twice unless there is something due again.
  if (pay.isSuccess && pay.variables.address === address && pay.variables.amount === amount)
    return <Text size="sm">Test money was sent. The payment page shows what becomes of it.</Text>;
  return (
    <Stack gap="xs" align="flex-start">
      <Button variant="light" loading={pay.isPending} onClick={() => pay.mutate(payment)}>
        Pay {grouped(amount)} {assetName(asset)} with test money
      </Button>
      <Failure error={pay.error} />
    </Stack>
  );
}
