import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { SimpleGrid, Stack, Text } from '@mantine/core';
import type { VolumeDay } from '@quittance/client';
import { fiat } from '../../parts/values.tsx';
import { dayOf } from './volume-totals.ts';

const shortDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const HEIGHT = 200;
/** The charts are hidden from screen readers, which read the list of days: the keyboard must not stop in them. */
const NO_FOCUS = { accessibilityLayer: false };

/** Paid volume, and invoices that were created and are paid, by day. A chunk of its own: the charts are large. */
export function VolumeChart({ days, currency }: { days: readonly VolumeDay[]; currency: string }) {
  const bars = days.map((day) => {
    const { created, paid, paidAmount } = dayOf(day, currency);
    return {
      day: shortDay.format(new Date(day.date)),
      // eslint-disable-next-line no-restricted-syntax -- the height of a bar
      amount: Number(paidAmount),
      text: fiat(paidAmount, currency),
      paid,
      open: created - paid,
    };
  });
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Stack gap={4}>
        <Text size="sm" c="dimmed">
          Paid, by the day on which the invoice was created
        </Text>
        <BarChart
          h={HEIGHT}
          barChartProps={NO_FOCUS}
          data={bars}
          dataKey="day"
          series={[{ name: 'amount', label: 'Paid', color: 'quittance.6' }]}
          valueFormatter={(value) => fiat(value.toFixed(2), currency)}
          withTooltip
          yAxisProps={{ width: 80 }}
        />
      </Stack>
      <Stack gap={4}>
        <Text size="sm" c="dimmed">
          Invoices
        </Text>
        <BarChart
          h={HEIGHT}
          barChartProps={NO_FOCUS}
          data={bars}
          dataKey="day"
          type="stacked"
          series={[
            { name: 'paid', label: 'Paid', color: 'teal.6' },
            { name: 'open', label: 'Not paid', color: 'gray.5' },
          ]}
          yAxisProps={{ width: 40, allowDecimals: false }}
          withLegend
        />
      </Stack>
    </SimpleGrid>
  );
}
