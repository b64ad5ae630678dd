import { Anchor, Text } from '@mantine/core';
import type { Invoice } from '@quittance/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Amount, assetName, Fiat } from '../../parts/amount.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { grouped } from '../../parts/decimal.ts';
import { Facts } from '../../parts/page.tsx';
import { Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';

/** What an invoice says of itself. */
export function InvoiceFacts({ invoice }: { invoice: Invoice }) {
  const { asset, currency, address, assets, rate, payment_link_id: link } = invoice;
  const amount = (value: string | null): ReactNode =>
    value === null || asset === null ? undefined : <Amount value={value} asset={asset.symbol} />;
  const unlessZero = (value: string): ReactNode => (value === '0' ? undefined : amount(value));
  return (
    <Section title="Invoice">
      <Facts
        facts={[
          ['Price', <Fiat key="price" value={invoice.amount_fiat} currency={currency} fw={600} />],
          ['Due', amount(invoice.amount) ?? `the payer chooses ${(assets ?? []).map(assetName).join(', ')}`],
          ['Paid', unlessZero(invoice.paid_amount)],
          ['Not final yet', unlessZero(invoice.pending_amount)],
          ['Taken back by the chain', unlessZero(invoice.reversed_amount)],
          [
            'Remains to be paid',
            isOver(invoice) || invoice.amount_remaining === '0'
              ? undefined
              : amount(invoice.amount_remaining),
          ],
          ['Refunded', unlessZero(invoice.refunded_amount)],
          ['Description', invoice.description],
          ['Your reference', invoice.external_id],
          ['Id', <Copyable key="id" text={invoice.id} label="Copy the id" />],
          [
            'Address',
            address === null ? undefined : (
              <Copyable key="address" text={address.address} label="Copy the address" />
            ),
          ],
          ['Rate', rate === null || asset === null ? undefined : rateText(invoice)],
          ['Created', <Time key="created" at={invoice.created_at} />],
          ['Expires', invoice.expires_at === null ? 'never' : <Time key="expires" at={invoice.expires_at} />],
          ['Paid at', invoice.paid_at === null ? undefined : <Time key="paid" at={invoice.paid_at} />],
          [
            'Cancelled',
            invoice.cancelled_at === null ? undefined : <Time key="cancelled" at={invoice.cancelled_at} />,
          ],
          [
            'Payment link',
            link === undefined ? undefined : (
              <Anchor key="link" component={Link} to={`/payment-links/${link}`} inherit>
                {link}
              </Anchor>
            ),
          ],
        ]}
      />
      {Object.keys(invoice.metadata).length > 0 && (
        <>
          <Text size="sm" fw={600}>
            Metadata
          </Text>
          <Facts facts={Object.entries(invoice.metadata)} />
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

function rateText({ rate, asset, currency }: Invoice): string {
  const { currency: fiat, asset: priced } = rate as NonNullable<Invoice['rate']>;
  const dollars = `1 ${assetName(asset?.symbol ?? '')} = ${grouped(priced.usd_rate)} USD`;
  return currency === 'USD' ? dollars : `${dollars}, 1 ${currency} = ${grouped(fiat.usd_rate)} USD`;
}
