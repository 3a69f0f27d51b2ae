import { useQuery } from '@tanstack/react-query';
import type { QueryText } from '../../../../../src/console-api/queries/query-schemas.ts';
import { ApiError, send } from '../../../api.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Loaded } from '../../../parts/states.tsx';

interface QueryTextDialogProps {
  connectionId: number;
  query: string;
  onClose: () => void;
}

/** Shows the text of a query. The service records each reading, so it is read once, when the dialog opens. */
export function QueryTextDialog({ connectionId, query, onClose }: QueryTextDialogProps) {
  const text = useQuery({
    queryKey: ['query-text', connectionId, query],
    queryFn: () => readText(connectionId, query),
    gcTime: 0,
    retry: false,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Dialog isOpen onClose={onClose} title="Query text" wide>
      <p className="quiet">
        Query <bdi className="mono">{query}</bdi>. The server replaced its constants. The activity log records
        that you read it.
      </p>
      <Loaded query={text}>
        {({ text: found }) =>
          found === null ? (
            <p>No text is stored yet. The next check stores it if the query still runs.</p>
          ) : (
            <CodeBlock text={found} what="query text" />
          )
        }
      </Loaded>
    </Dialog>
  );
}

async function readText(connectionId: number, query: string): Promise<{ text: string | null }> {
  try {
    return await send<QueryText>('POST', `/connections/${connectionId}/queries/text`, { query });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return { text: null };
    throw error;
  }
}
