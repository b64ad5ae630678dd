import { Alert, Stack, Text } from '@mantine/core';
import type { CreateRefund, PayableInvoice } from '@quittance/client';
import type { ReactNode } from 'react';
import { useAssets, useBalances } from '../../parts/account-data.ts';
import { Address } from '../../parts/address.tsx';
import { Amount, assetName, Fiat } from '../../parts/amount.tsx';
import { add, compare } from '../../parts/decimal.ts';
import { networkName } from '../../parts/networks.ts';
import { Facts } from '../../parts/page.tsx';
import { type Refundable, shareOf, worthOf } from './refund-amount.ts';

type Props = { invoice: PayableInvoice; refundable: Refundable; refund: CreateRefund };

/** What of the payment a refund takes, where it says so itself. */
function takenOf({ amount }: CreateRefund, invoice: PayableInvoice, { left, surplus }: Refundable): string {
  if (amount === 'all') return left;
  return amount === 'surplus' ? surplus : shareOf(String(amount), invoice);
}

/** The exact amounts of a refund before it is created. */
export function RefundConfirmation({ invoice, refundable, refund }: Props) {
  const { symbol } = invoice.asset;
  const fee = useAssets().data?.find((asset) => asset.symbol === symbol)?.network_fee;
  const balance = useBalances().data?.find(({ asset }) => asset.symbol === symbol)?.balance;
  const taken = takenOf(refund, invoice, refundable);
  const isNow = refund.rate === 'now';
  const total = isNow || fee === undefined ? undefined : add(taken, fee);
  const amount = (value: string): ReactNode => <Amount value={value} asset={symbol} />;
  const address = refund.address ?? undefined;
  return (
    <Stack>
      <Facts
        facts={[
          ['It takes of the payment', amount(taken)],
          ['Worth then', <Fiat key="worth" value={worthOf(taken, invoice)} currency={invoice.currency} />],
          [
            'Your customer gets',
            isNow
              ? `as much ${assetName(symbol)} as is worth the same in ${invoice.currency} at the rates of now`
              : amount(taken),
          ],
          [
            'To',
            address === undefined ? (
              'an address that your customer gives'
            ) : (
              <Address key="to" address={address} />
            ),
          ],
          ['On the network', networkName(symbol)],
          [
            'Network fee',
            fee === undefined ? 'not known now' : <>about {amount(fee)}, which you pay beside it</>,
          ],
          ['Your balance', balance === undefined ? undefined : amount(balance)],
        ]}
      />
      {address === undefined ? (
        <Text size="sm">
          Nothing is sent until your customer uses the link, within {refund.expires_in_days} days. The balance
          has to cover it then.
        </Text>
      ) : (
        <Text size="sm">It is sent as soon as you confirm, and cannot be taken back once it is signed.</Text>
      )}
      {total !== undefined && balance !== undefined && compare(total, balance) > 0 && (
        <Alert color="yellow">The balance does not cover the refund and its network fee at the moment.</Alert>
      )}
    </Stack>
  );
}
