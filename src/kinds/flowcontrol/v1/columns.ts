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
    'The level that its requests are put on.',
    (object) => object.spec.priorityLevelConfiguration.name,
  ),
  textColumn(
    'MatchingPrecedence',
    'Its rank when several match; the least wins.',
    (object) => object.spec.matchingPrecedence,
  ),
  textColumn(
    'DistinguisherMethod',
    'How its requests are told apart into flows.',
    (object) => object.spec.distinguisherMethod?.type ?? NONE,
  ),
  ageColumn,
  textColumn('MissingPL', 'Whether the level that it names is missing.', (object) => {
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
    'Its weight when places are shared out.',
    (object) => object.spec.limited?.nominalConcurrencyShares ?? NONE,
  ),
  textColumn('Queues', 'How many queues its requests wait in.', (object) => queuingOf(object)?.queues ?? NONE),
  textColumn('HandSize', 'Among how many queues a flow may choose.', (object) => queuingOf(object)?.handSize ?? NONE),
  textColumn(
    'QueueLengthLimit',
    'How many requests may wait in one queue.',
    (object) => queuingOf(object)?.queueLengthLimit ?? NONE,
  ),
  ageColumn,
];
