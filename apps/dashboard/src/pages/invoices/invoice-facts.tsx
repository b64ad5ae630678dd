import { Text } from '@mantine/core';
import type { Invoice } from '@quittance/client';
import { grouped } from '../../parts/decimal.ts';
import { Facts, PageLink, Section } from '../../parts/page.tsx';
import { Amount, assetName, Copyable, Fiat, Time } from '../../parts/values.tsx';

/** What an invoice says of itself. */
export function InvoiceFacts({ invoice }: { invoice: Invoice }) {
  const { asset, currency, address, assets, payment_link_id: link, metadata } = invoice;
  const amount = (value: string | null) =>
    value !== null && asset !== null && <Amount value={value} asset={asset.symbol} />;
  const unlessZero = (value: string) => value !== '0' && amount(value);
  const time = (at: string | null) => at && <Time at={at} />;
  return (
    <Section title="Invoice">
      <Facts
        facts={{
          Price: <Fiat value={invoice.amount_fiat} currency={currency} fw={600} />,
          Due: amount(invoice.amount) || `the payer chooses ${(assets ?? []).map(assetName).join(', ')}`,
          Paid: unlessZero(invoice.paid_amount),
          'Not final yet': unlessZero(invoice.pending_amount),
          'Taken back by the chain': unlessZero(invoice.reversed_amount),
          'Remains to be paid':
            !isOver(invoice) && invoice.amount_remaining !== '0' && amount(invoice.amount_remaining),
          Refunded: unlessZero(invoice.refunded_amount),
          Description: invoice.description,
          'Your reference': invoice.external_id,
          Id: <Copyable text={invoice.id} label="Copy the id" />,
          Address: address && <Copyable text={address.address} label="Copy the address" />,
          Rate: rateText(invoice),
          Created: time(invoice.created_at),
          Expires: time(invoice.expires_at) ?? 'never',
          'Paid at': time(invoice.paid_at),
          Cancelled: time(invoice.cancelled_at),
          'Payment link': link && <PageLink to={`/payment-links/${link}`}>{link}</PageLink>,
        }}
      />
      {Object.keys(metadata).length > 0 && (
        <>
          <Text size="sm" fw={600}>
            Metadata
          </Text>
          <Facts facts={metadata} />
        </>
      )}
    </Section>
  );
}

/** Nothing more is paid to it. */
const isOver = ({ status, cancelled_at, expires_at }: Invoice): boolean =>
  status === 'expired' ||
  cancelled_at !== null ||
  (status === 'partially_paid' && expires_at !== null && Date.parse(expires_at) < Date.now());

function rateText({ rate, asset, currency }: Invoice): string | undefined {
  if (rate === null || asset === null) return undefined;
  const dollars = `1 ${assetName(asset.symbol)} = ${grouped(rate.asset.usd_rate)} USD`;
  return currency === 'USD' ? dollars : `${dollars}, 1 ${currency} = ${grouped(rate.currency.usd_rate)} USD`;
}
