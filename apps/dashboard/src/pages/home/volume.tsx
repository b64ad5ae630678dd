import { Center, Group, Loader, SegmentedControl, Select, Stack, Text, VisuallyHidden } from '@mantine/core';
import type { VolumeDay } from '@quittance/client';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { quittance } from '../../client.ts';
import { Loaded, Note, Section, Small } from '../../parts/page.tsx';
import { useRead } from '../../parts/reading.ts';
import { Fiat, fiat } from '../../parts/values.tsx';
import { wholeNumber } from '../../parts/whole-number.ts';
import { conversion, currenciesOf, dayOf, firstDay, totalsOf } from './volume-totals.ts';

const VolumeChart = lazy(async () => ({ default: (await import('./volume-chart.tsx')).VolumeChart }));

const REFRESH_VOLUME_MS = 60_000;

/** How much is paid, and how many of the invoices, over time. */
export function Volume() {
  const [range, setRange] = useState('30');
  const query = useRead(
    ['volume', range],
    (options) => quittance.volume.list({ from: firstDay(wholeNumber(range), new Date()) }, options),
    { refetchInterval: REFRESH_VOLUME_MS },
  );
  return (
    <Section
      title="Volume and conversion"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="How many days"
          data={['7', '30', '90'].map((value) => ({ value, label: `${value} days` }))}
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
  if (currency === undefined) return <Note>No invoices were created in these days.</Note>;
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
    <Small>{label}</Small>
    <Text fw={650} fz="lg">
      {children}
    </Text>
  </div>
);
