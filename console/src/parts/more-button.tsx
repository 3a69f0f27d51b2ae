import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Button } from './button.tsx';

/** A list that is loaded page by page. */
export type Pages = Pick<
  UseInfiniteQueryResult<unknown>,
  'hasNextPage' | 'isFetching' | 'isFetchingNextPage' | 'isFetchNextPageError' | 'fetchNextPage'
>;

/** Loads the next page of a list: for people who don't scroll, and after a failed page. */
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
