/**
 * The metrics of flow control, from the counts that it keeps.
 */
import type { Release } from '../kinds/lifecycle.js';
import type { MetricsRegistry, Stability } from './registry.js';

/** The `metrics` of flow control are one. */
export interface FlowSource {
  flows(): readonly FlowFigures[];
  levels(): readonly SeatFigures[];
}

/** Of the requests of one FlowSchema on one priority level. */
export interface FlowFigures {
  readonly priorityLevel: string;
  readonly flowSchema: string;
  readonly dispatched: number;
  /** By reason. */
  readonly rejected: Readonly<Partial<Record<string, number>>>;
  readonly inQueue: number;
  readonly inQueueSeats: number;
  readonly executing: number;
  readonly executingSeats: number;
}

/** Of one priority level. */
export interface SeatFigures {
  readonly priorityLevel: string;
  readonly nominal: number;
  readonly lower: number;
  readonly upper: number;
  readonly current: number;
}

interface Shown<Figures> {
  readonly stability: Stability;
  readonly help: string;
  readonly figure: (figures: Figures) => number;
  /** A gauge unless said otherwise. */
  readonly type?: 'counter';
  readonly deprecatedVersion?: Release;
}

const PREFIX = 'apiserver_flowcontrol_';

const OF_FLOWS: Readonly<Record<string, Shown<FlowFigures>>> = {
  dispatched_requests_total: {
    stability: 'BETA',
    help: 'Requests that got a seat.',
    figure: ({ dispatched }) => dispatched,
    type: 'counter',
  },
  current_inqueue_requests: {
    stability: 'BETA',
    help: 'Requests that wait in queues.',
    figure: ({ inQueue }) => inQueue,
  },
  current_inqueue_seats: {
    stability: 'ALPHA',
    help: 'Seats that waiting requests need.',
    figure: ({ inQueueSeats }) => inQueueSeats,
  },
  current_executing_requests: {
    stability: 'BETA',
    help: 'Requests that have a seat.',
    figure: ({ executing }) => executing,
  },
  current_executing_seats: {
    stability: 'BETA',
    help: 'Seats that are taken.',
    figure: ({ executingSeats }) => executingSeats,
  },
  request_concurrency_in_use: {
    stability: 'ALPHA',
    help: `Seats that are taken; ${PREFIX}current_executing_seats tells the same.`,
    figure: ({ executingSeats }) => executingSeats,
    deprecatedVersion: '1.31',
  },
};

const OF_LEVELS: Readonly<Record<string, Shown<SeatFigures>>> = {
  nominal_limit_seats: {
    stability: 'BETA',
    help: 'Seats that a level has by its shares.',
    figure: ({ nominal }) => nominal,
  },
  lower_limit_seats: {
    stability: 'ALPHA',
    help: 'The least seats that lending leaves a level with.',
    figure: ({ lower }) => lower,
  },
  upper_limit_seats: {
    stability: 'ALPHA',
    help: 'The most seats that a level can have by borrowing.',
    figure: ({ upper }) => upper,
  },
  current_limit_seats: {
    stability: 'ALPHA',
    help: 'Seats that a level has now.',
    figure: ({ current }) => current,
  },
  request_concurrency_limit: {
    stability: 'ALPHA',
    help: `Seats that a level has by its shares; ${PREFIX}nominal_limit_seats tells the same.`,
    figure: ({ nominal }) => nominal,
    deprecatedVersion: '1.30',
  },
};

const FLOW = ['priority_level', 'flow_schema'] as const;

export function collectFlow(registry: MetricsRegistry, source: FlowSource): void {
  for (const [name, { figure, type = 'gauge', ...about }] of Object.entries(OF_FLOWS)) {
    registry.collect({ ...about, name: `${PREFIX}${name}`, type, labels: FLOW }, () =>
      source.flows().map((flow) => [flowLabels(flow), figure(flow)] as const),
    );
  }
  for (const [name, { figure, type = 'gauge', ...about }] of Object.entries(OF_LEVELS)) {
    registry.collect({ ...about, name: `${PREFIX}${name}`, type, labels: ['priority_level'] }, () =>
      source.levels().map((level) => [{ priority_level: level.priorityLevel }, figure(level)] as const),
    );
  }
  registry.collect(
    {
      name: `${PREFIX}rejected_requests_total`,
      help: 'Requests that were turned away, and why.',
      stability: 'BETA',
      labels: [...FLOW, 'reason'],
      type: 'counter',
    },
    () =>
      source
        .flows()
        .flatMap((flow) =>
          Object.entries(flow.rejected).map(([reason, count = 0]) => [{ ...flowLabels(flow), reason }, count] as const),
        ),
  );
}

export function flowLabels({ priorityLevel, flowSchema }: Pick<FlowFigures, 'priorityLevel' | 'flowSchema'>) {
  return { priority_level: priorityLevel, flow_schema: flowSchema };
}
