import { Box, Button, FileButton, Group, Input, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { LOGO_TYPES, readLogo } from './logo.ts';

type Props = {
  value: string | null;
  onChange(logo: string | null): void;
  error: ReactNode;
  isReadOnly: boolean;
};

/** A picture from a file, as a data URI. */
export function LogoField({ value, onChange, error, isReadOnly }: Props) {
  const read = useMutation({ mutationFn: readLogo, onSuccess: onChange });
  return (
    <Input.Wrapper
      label="Logo"
      description="A PNG, JPEG or WebP, which is made small"
      error={read.error?.message ?? error}
    >
      <Stack gap="xs" mt={4}>
        {value !== null && <Picture uri={value} />}
        {!isReadOnly && (
          <Group gap="xs">
            <FileButton accept={LOGO_TYPES.join(',')} onChange={(file) => file !== null && read.mutate(file)}>
              {(button) => (
                <Button {...button} variant="default" loading={read.isPending}>
                  {value === null ? 'Choose a picture' : 'Choose another'}
                </Button>
              )}
            </FileButton>
            {value !== null && (
              <Button variant="subtle" onClick={() => onChange(null)}>
                Without a logo
              </Button>
            )}
          </Group>
        )}
      </Stack>
    </Input.Wrapper>
  );
}

const Picture = ({ uri }: { uri: string }) => (
  <Box>
    {/* On white, as on the page of a payment by day. */}
    <img
      src={uri}
      alt="The logo"
      style={{ maxWidth: 160, maxHeight: 80, background: '#fff', borderRadius: 4 }}
    />
    <Text size="xs" c="dimmed">
      {new Intl.NumberFormat().format(uri.length)} characters
    </Text>
  </Box>
);
