import { Center, Group, Loader, SegmentedControl, Select, Stack, Text, VisuallyHidden } from '@mantine/core';
import type { VolumeDay } from '@quittance/client';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { quittance } from '../../client.ts';
import { Fiat, fiat } from '../../parts/amount.tsx';
import { Loaded } from '../../parts/page.tsx';
import { Section } from '../../parts/section.tsx';
import { wholeNumber } from '../../parts/whole-number.ts';
import { conversion, currenciesOf, dayOf, firstDay, totalsOf } from './volume-totals.ts';

const VolumeChart = lazy(async () => ({ default: (await import('./volume-chart.tsx')).VolumeChart }));

const REFRESH_VOLUME_MS = 60_000;

/** How much is paid, and how many of the invoices, over time. */
export function Volume() {
  const [range, setRange] = useState('30');
  const query = useQuery({
    queryKey: ['volume', range],
    queryFn: ({ signal }) =>
      quittance.volume.list({ from: firstDay(wholeNumber(range), new Date()) }, { signal }),
    refetchInterval: REFRESH_VOLUME_MS,
  });
  return (
    <Section
      title="Volume and conversion"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="How many days"
          data={[
            { value: '7', label: '7 days' },
            { value: '30', label: '30 days' },
            { value: '90', label: '90 days' },
          ]}
          value={range}
          onChange={setRange}
        />
      }
    >
      <Loaded query={query}>{(days) => <Days days={days} />}</Loaded>
    </Section>
  );
}

function Days({ days }: { days: readonly VolumeDay[] }) {
  const currencies = currenciesOf(days);
  const [chosen, setChosen] = useState<string | null>(null);
  const currency = chosen !== null && currencies.includes(chosen) ? chosen : currencies[0];
  if (currency === undefined)
    return (
      <Text size="sm" c="dimmed">
        No invoices were created in these days.
      </Text>
    );
  const totals = totalsOf(days, currency);
  return (
    <Stack>
      <Group gap="xl" align="flex-end">
        <Figure label="Paid">
          <Fiat value={totals.paidAmount} currency={currency} />
        </Figure>
        <Figure label="Conversion">{conversion(totals) ?? 0} %</Figure>
        <Figure label="Invoices">
          {totals.paid} of {totals.created} paid
        </Figure>
        {currencies.length > 1 && (
          <Select
            aria-label="Currency of the prices"
            size="xs"
            w={90}
            ml="auto"
            data={currencies}
            value={currency}
            onChange={setChosen}
            allowDeselect={false}
          />
        )}
      </Group>
      <Suspense
        fallback={
          <Center h={200}>
            <Loader role="status" aria-label="Loading" />
          </Center>
        }
      >
        <div aria-hidden>
          <VolumeChart days={days} currency={currency} />
        </div>
      </Suspense>
      <VisuallyHidden>
        <ul>
          {days.map((day) => {
            const { created, paid, paidAmount } = dayOf(day, currency);
            return (
              <li key={day.date}>
                {day.date}: {fiat(paidAmount, currency)} paid, {paid} of {created} invoices
              </li>
            );
          })}
        </ul>
      </VisuallyHidden>
    </Stack>
  );
}

const Figure = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <Text size="xs" c="dimmed">
      {label}
    </Text>
    <Text fw={650} fz="lg">
      {children}
    </Text>
  </div>
);
