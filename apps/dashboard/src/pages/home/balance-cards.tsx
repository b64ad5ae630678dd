import { Group, Paper, SimpleGrid, Text } from '@mantine/core';
import { useBalances } from '../../parts/account-data.ts';
import { grouped, sum } from '../../parts/decimal.ts';
import { Loaded, Note, PageLink, Section, Small } from '../../parts/page.tsx';
import { Amount, assetName, Fiat } from '../../parts/values.tsx';

/** What can be spent, with its value of now. Assets without anything are left out while there are others. */
export function BalanceCards() {
  const query = useBalances();
  return (
    <Section title="Balances" actions={<PageLink to="/balances">All balances</PageLink>}>
      <Loaded query={query}>
        {(balances) => {
          const used = balances.filter(({ balance, held }) => balance !== '0' || held !== '0');
          return (
            <>
              <Text fz="1.75rem" fw={650} lh={1.2}>
                <Fiat value={sum(balances.map(({ usd_value }) => usd_value))} currency="USD" />
              </Text>
              {used.length === 0 ? (
                <Note>What customers pay is credited here when it is final.</Note>
              ) : (
                <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
                  {used.map(({ asset, balance, held, usd_value }) => (
                    <Paper key={asset.symbol} withBorder p="sm">
                      <Group justify="space-between" gap="xs">
                        <Note>{assetName(asset.symbol)}</Note>
                        <Fiat value={usd_value} currency="USD" size="sm" />
                      </Group>
                      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                        {grouped(balance)}
                      </Text>
                      {held !== '0' && (
                        <Small>
                          <Amount value={held} asset={asset.symbol} /> held for payouts
                        </Small>
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
