import { Anchor, Button, Grid, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { PaymentLink } from '@quittance/client';
import { IconPrinter } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { quittance } from '../../client.ts';
import { assetName } from '../../parts/amount.tsx';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { Failure } from '../../parts/failure.tsx';
import { errorsOf } from '../../parts/form-errors.ts';
import { Facts, Loaded, Page } from '../../parts/page.tsx';
import { usePageId } from '../../parts/page-id.ts';
import { Section } from '../../parts/section.tsx';
import { ShareLink } from '../../parts/share-link.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { wholeNumber } from '../../parts/whole-number.ts';
import { REFRESH_MS } from '../../queries.ts';
import { useMay } from '../../session/session.ts';
import { RecentInvoices } from '../invoices/recent-invoices.tsx';
import { priceOf } from './link-price.tsx';
import { QrSheet } from './qr-sheet.tsx';

const BACK = { to: '/payment-links', label: 'Payment links' };

export function RoutePage() {
  const id = usePageId();
  const query = useQuery({
    queryKey: ['payment-links', id],
    queryFn: ({ signal }) => quittance.paymentLinks.retrieve(id, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const link = query.data;
  return (
    <Page
      title={link?.description ?? 'Payment link'}
      back={BACK}
      mark={link !== undefined && <StateBadge state={link.status} />}
      actions={link?.status === 'active' && <Actions link={link} />}
    >
      <Loaded query={query}>{(found) => <Details link={found} />}</Loaded>
    </Page>
  );
}

function Actions({ link }: { link: PaymentLink }) {
  const client = useQueryClient();
  const mayChange = useMay('invoices:write');
  return (
    <>
      <Button variant="default" leftSection={<IconPrinter size={16} />} onClick={() => window.print()}>
        Print
      </Button>
      {mayChange && (
        <ConfirmButton
          label="Deactivate"
          title="Deactivate the payment link"
          act={() => quittance.paymentLinks.deactivate(link.id)}
          onDone={() => client.invalidateQueries({ queryKey: ['payment-links'] })}
        >
          Its page takes no payments any more, and it cannot be activated again. What was begun can still be
          paid.
        </ConfirmButton>
      )}
    </>
  );
}

function Details({ link }: { link: PaymentLink }) {
  const { asset, assets } = link;
  const mayChange = useMay('invoices:write');
  return (
    <Stack>
      {link.status === 'active' && (
        <Section title="To share">
          <ShareLink url={link.url} label="payment link" />
          <QrSheet link={link} />
        </Section>
      )}
      <Grid>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Section title="Payment link">
            <Facts
              facts={[
                ['Price', priceOf(link)],
                [
                  'Assets',
                  asset !== null
                    ? assetName(asset)
                    : assets === 'all'
                      ? 'the payer chooses among all'
                      : (assets ?? []).map(assetName).join(', '),
                ],
                ['Minutes to pay', link.expires_in ?? 'as the settings of invoices say'],
                ['Ends', link.valid_until === null ? 'never' : <Time key="ends" at={link.valid_until} />],
                ['Created', <Time key="created" at={link.created_at} />],
                [
                  'Deactivated',
                  link.deactivated_at === null ? undefined : (
                    <Time key="deactivated" at={link.deactivated_at} />
                  ),
                ],
                ['Id', <Copyable key="id" text={link.id} label="Copy the id" />],
                ['Open invoices', link.open_invoices],
                ...Object.entries(link.metadata).map(
                  ([name, value]) => [`Metadata: ${name}`, value] as const,
                ),
              ]}
            />
            {mayChange && link.status === 'active' && <OpenLimit link={link} key={link.max_open} />}
          </Section>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Section
            title="Invoices"
            actions={
              <Anchor
                component={Link}
                to="/invoices"
                search={{ payment_link_id: link.id } as never}
                size="sm"
              >
                All of this link
              </Anchor>
            }
          >
            <RecentInvoices query={{ payment_link_id: link.id }}>
              <Text size="sm" c="dimmed">
                Nobody has begun a payment yet.
              </Text>
            </RecentInvoices>
          </Section>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

/** How many invoices may be open: what keeps a link that is known to many from creating invoices without an end. */
function OpenLimit({ link: { id, max_open: limit } }: { link: PaymentLink }) {
  const client = useQueryClient();
  const form = useForm<{ max_open: number | string }>({ initialValues: { max_open: limit } });
  const change = useMutation({
    mutationFn: (max: number) => quittance.paymentLinks.update(id, { max_open: max }),
    onError: (error) => form.setErrors(errorsOf(error)),
    onSettled: () => client.invalidateQueries({ queryKey: ['payment-links'] }),
  });
  return (
    <form onSubmit={form.onSubmit(({ max_open }) => change.mutate(wholeNumber(max_open)))}>
      <Stack gap="xs">
        <Group align="flex-end" gap="xs">
          <NumberInput
            label="Open invoices, at most"
            min={1}
            max={10_000}
            allowDecimal={false}
            required
            w={240}
            {...form.getInputProps('max_open')}
          />
          <Button type="submit" variant="default" loading={change.isPending} disabled={!form.isDirty()}>
            Change
          </Button>
        </Group>
        {change.error !== null && <Failure error={change.error} />}
      </Stack>
    </form>
  );
}
