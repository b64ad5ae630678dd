import { Button, Group } from '@mantine/core';

type Props = {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): Promise<unknown> };
};

/** Under a list that grows: reads the next page of it, where there is one. */
export const OlderButton = ({ query: { hasNextPage, isFetchingNextPage, fetchNextPage } }: Props) =>
  hasNextPage && (
    <Group justify="center">
      <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Older ones
      </Button>
    </Group>
  );
