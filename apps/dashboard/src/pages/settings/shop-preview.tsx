import { Box, Paper, Stack, Text } from '@mantine/core';

type Props = { name: string | null; logo: string | null };

/** The top of the page of a payment, as a customer sees it by day. */
export const ShopPreview = ({ name, logo }: Props) => (
  <Stack gap={4}>
    <Text size="sm" fw={500}>
      How it looks
    </Text>
    <Paper withBorder p="lg" bg="white" c="black" aria-label="Preview">
      <Stack>
        {name === null && logo === null ? (
          <Text size="sm" c="gray.7">
            Neither a name nor a logo: customers do not see whom they pay.
          </Text>
        ) : (
          <Box style={{ display: 'flex', alignItems: 'center', gap: 12, minHeight: 48 }}>
            {logo !== null && (
              <img src={logo} alt="" style={{ maxWidth: 112, maxHeight: 44, objectFit: 'contain' }} />
            )}
            {name !== null && (
              <Text fw={600} dir="auto" style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Text>
            )}
          </Box>
        )}
        <Box>
          <Text size="sm" c="gray.7">
            To pay
          </Text>
          <Text size="xl" fw={650}>
            0.0042 ETH
          </Text>
        </Box>
      </Stack>
    </Paper>
  </Stack>
);
