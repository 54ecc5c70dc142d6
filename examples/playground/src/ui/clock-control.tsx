/**
 * Controls the speed of the cluster's clock: stopped, real time, or faster.
 */
import { useEffect, useState } from 'preact/hooks';
import { type Session, useSession } from '../session/session.js';

const SPEEDS = [1, 10, 60] as const;

export function ClockControl({ session }: { readonly session: Session }) {
  const speed = useSession(session, (state) => state.speed);
  const cluster = useSession(session, (state) => state.cluster);
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 500);
    return () => clearInterval(timer);
  }, []);
  const time = new Date(cluster.clock.now()).toISOString();
  return (
    <fieldset class="clock" aria-label="Cluster clock">
      <button
        type="button"
        class="icon"
        aria-label={speed === 0 ? 'Start time' : 'Stop time'}
        aria-pressed={speed === 0}
        onClick={() => session.store.set({ speed: speed === 0 ? 1 : 0 })}
      >
        <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" fill="currentColor">
          {speed === 0 ? <path d="M2.5 1v10l8-5z" /> : <path d="M2 1h3v10H2zM7 1h3v10H7z" />}
        </svg>
      </button>
      <time dateTime={time} title={`${time}, on the cluster's clock`}>
        {time.slice(11, 19)}
      </time>
      <span class="speeds">
        {SPEEDS.map((each) => (
          <button
            type="button"
            key={each}
            aria-pressed={speed === each}
            title={each === 1 ? 'Real time' : `${each} times faster than real time`}
            onClick={() => session.store.set({ speed: each })}
          >
            {`${each}×`}
          </button>
        ))}
      </span>
    </fieldset>
  );
}
