/**
 * The table columns of FlowSchemas and priority levels.
 */
import type { Column } from '../../columns.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../shared/common-columns.js';
import type { FlowSchema } from './flow-schema/flow-schema.js';
import type { PriorityLevelConfiguration } from './priority-level-configuration.js';

const queuingOf = ({ spec }: PriorityLevelConfiguration) => spec.limited?.limitResponse.queuing;

/** The columns of FlowSchemas. */
export const flowSchemaColumns: readonly Column<FlowSchema>[] = [
  nameColumn,
  textColumn(
    'PriorityLevel',
    'The priority level of its requests.',
    (object) => object.spec.priorityLevelConfiguration.name,
  ),
  textColumn(
    'MatchingPrecedence',
    'The order in which schemas are matched; the lowest value comes first.',
    (object) => object.spec.matchingPrecedence,
  ),
  textColumn(
    'DistinguisherMethod',
    'How its requests are divided into flows.',
    (object) => object.spec.distinguisherMethod?.type ?? NONE,
  ),
  ageColumn,
  textColumn('MissingPL', 'Whether its priority level does not exist.', (object) => {
    const { conditions = [] } = object.status;
    return conditions.find(({ type }) => type === 'Dangling')?.status ?? '?';
  }),
];

/** The columns of priority levels. */
export const priorityLevelColumns: readonly Column<PriorityLevelConfiguration>[] = [
  nameColumn,
  textColumn('Type', 'Whether its requests are limited.', (object) => object.spec.type),
  textColumn(
    'NominalConcurrencyShares',
    'Its share of the concurrency limit of the server.',
    (object) => object.spec.limited?.nominalConcurrencyShares ?? NONE,
  ),
  textColumn('Queues', 'The number of its queues.', (object) => queuingOf(object)?.queues ?? NONE),
  textColumn('HandSize', 'The number of queues that a flow can use.', (object) => queuingOf(object)?.handSize ?? NONE),
  textColumn(
    'QueueLengthLimit',
    'The maximum number of requests in a queue.',
    (object) => queuingOf(object)?.queueLengthLimit ?? NONE,
  ),
  ageColumn,
];
