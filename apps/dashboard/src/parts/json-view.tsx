import { Button, Code, CopyButton, Group, Stack } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';

/** JSON as text, laid out to be read, with a button that copies it. */
export function JsonView({ value, label = 'Copy' }: { value: unknown; label?: string }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <Stack gap="xs">
      <Group justify="flex-end">
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
              onClick={copy}
            >
              {copied ? 'Copied' : label}
            </Button>
          )}
        </CopyButton>
      </Group>
      <Code
        block
        tabIndex={0}
        mah={480}
        style={{ overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
      >
        {text}
      </Code>
    </Stack>
  );
}
