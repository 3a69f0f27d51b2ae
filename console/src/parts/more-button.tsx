import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Button } from './button.tsx';

type Pages = Pick<UseInfiniteQueryResult<unknown>, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>;

/** Below a list that is fetched page by page: for who does not scroll, and after a page that could not be fetched. */
export function MoreButton({ list: { hasNextPage, isFetchingNextPage, fetchNextPage } }: { list: Pages }) {
  if (!hasNextPage) return null;
  return (
    <div>
      <Button isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
        Show more
      </Button>
    </div>
  );
}
