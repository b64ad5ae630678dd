import { Anchor, Group, Paper, SimpleGrid, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useBalances } from '../../parts/account-data.ts';
import { Amount, assetName, Fiat } from '../../parts/amount.tsx';
import { grouped, sum } from '../../parts/decimal.ts';
import { Loaded } from '../../parts/page.tsx';
import { Section } from '../../parts/section.tsx';

/** What can be spent, with its value of now. Assets without anything are left out while there are others. */
export function BalanceCards() {
  const query = useBalances();
  return (
    <Section
      title="Balances"
      actions={
        <Anchor component={Link} to="/balances" size="sm">
          All balances
        </Anchor>
      }
    >
      <Loaded query={query}>
        {(balances) => {
          const used = balances.filter(({ balance, held }) => balance !== '0' || held !== '0');
          return (
            <>
              <Text fz="1.75rem" fw={650} lh={1.2}>
                <Fiat value={sum(balances.map(({ usd_value }) => usd_value))} currency="USD" />
              </Text>
              {used.length === 0 ? (
                <Text size="sm" c="dimmed">
                  What customers pay is credited here when it is final.
                </Text>
              ) : (
                <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
                  {used.map(({ asset, balance, held, usd_value }) => (
                    <Paper key={asset.symbol} withBorder p="sm">
                      <Group justify="space-between" gap="xs">
                        <Text size="sm" c="dimmed">
                          {assetName(asset.symbol)}
                        </Text>
                        <Text size="sm">
                          <Fiat value={usd_value} currency="USD" />
                        </Text>
                      </Group>
                      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                        {grouped(balance)}
                      </Text>
                      {held !== '0' && (
                        <Text size="xs" c="dimmed">
                          <Amount value={held} asset={asset.symbol} /> held for payouts
                        </Text>
                      )}
                    </Paper>
                  ))}
                </SimpleGrid>
              )}
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}
