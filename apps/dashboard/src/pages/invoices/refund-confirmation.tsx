import { Alert, Stack, Text } from '@mantine/core';
import type { CreateRefund, PayableInvoice } from '@quittance/client';
import { useAssets, useBalances } from '../../parts/account-data.ts';
import { add, compare } from '../../parts/decimal.ts';
import { networkName } from '../../parts/networks.ts';
import { Facts } from '../../parts/page.tsx';
import { Address, Amount, assetName, Fiat } from '../../parts/values.tsx';
import { type Refundable, shareOf, worthOf } from './refund-amount.ts';

type Props = { invoice: PayableInvoice; refundable: Refundable; refund: CreateRefund };

/** What of the payment a refund takes, where it says so itself. */
function takenOf({ amount }: CreateRefund, invoice: PayableInvoice, { left, surplus }: Refundable): string {
  if (amount === 'all') return left;
  return amount === 'surplus' ? surplus : shareOf(String(amount), invoice);
}

/** The exact amounts of a refund before it is created. */
export function RefundConfirmation({ invoice, refundable, refund }: Props) {
  const { asset, currency } = invoice;
  const fee = useAssets().data?.find(({ symbol }) => symbol === asset.symbol)?.network_fee;
  const balance = useBalances().data?.find((one) => one.asset.symbol === asset.symbol)?.balance;
  const taken = takenOf(refund, invoice, refundable);
  const isNow = refund.rate === 'now';
  const total = isNow || fee === undefined ? undefined : add(taken, fee);
  const amount = (value: string) => <Amount value={value} asset={asset.symbol} />;
  const { address } = refund;
  return (
    <Stack>
      <Facts
        facts={{
          'It takes of the payment': amount(taken),
          'Worth then': <Fiat value={worthOf(taken, invoice)} currency={currency} />,
          'Your customer gets': isNow
            ? `as much ${assetName(asset.symbol)} as is worth the same in ${currency} at the rates of now`
            : amount(taken),
          To: address ? <Address address={address} /> : 'an address that your customer gives',
          'On the network': networkName(asset.symbol),
          'Network fee': fee ? <>about {amount(fee)}, which you pay as well</> : 'not known now',
          'Your balance': balance && amount(balance),
        }}
      />
      <Text size="sm">
        {address
          ? 'It is sent as soon as you confirm, and cannot be taken back once it is signed.'
          : `Nothing is sent until your customer uses the link, within ${refund.expires_in_days} days. The balance has to cover it then.`}
      </Text>
      {total !== undefined && balance !== undefined && compare(total, balance) > 0 && (
        <Alert color="yellow">The balance does not cover the refund and its network fee at the moment.</Alert>
      )}
    </Stack>
  );
}
