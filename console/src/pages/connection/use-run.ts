import { useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import type { RunProgress } from '../../../../src/console-api/connections/runs.ts';
import { apiUrl, send } from '../../api.ts';

const ENDED: readonly RunProgress['state'][] = ['done', 'failed', 'idle'];

/**
 * Follows a running health check, also one that another member started. `run` is its progress, or the result of the last one followed here;
 * null before the first. `onEnd` is called when a run ends or can't be followed any longer.
 */
export function useRun(id: string, isRunning: boolean, onEnd: (run: RunProgress | null) => void) {
  const [watched, setWatched] = useState(isRunning);
  const [run, setRun] = useState<RunProgress | null>(null);
  const start = useMutation({
    mutationFn: () => send<RunProgress>('POST', `/connections/${encodeURIComponent(id)}/run`),
    onSuccess(begun) {
      setRun(begun);
      setWatched(true);
    },
  });
  useEffect(() => {
    if (isRunning) setWatched(true);
  }, [isRunning]);
  const end = useEffectEvent((last: RunProgress | null) => {
    setWatched(false);
    onEnd(last);
  });
  useEffect(() => {
    if (!watched) return;
    const source = new EventSource(apiUrl(`/connections/${encodeURIComponent(id)}/run`));
    source.onmessage = ({ data }: MessageEvent<string>) => {
      const progress = JSON.parse(data) as RunProgress;
      setRun(progress);
      if (!ENDED.includes(progress.state)) return;
      source.close();
      end(progress);
    };
    // The browser reopens a broken stream, but not a refused one.
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) end(null);
    };
    return () => source.close();
  }, [watched, id]);
  return { run, isWatched: watched, start };
}
