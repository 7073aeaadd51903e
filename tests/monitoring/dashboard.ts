// The dashboards that fleetc writes, in the types of Grafana's own SDK: `Board` is what one may look like as JSON.
// test_grafana.py puts each dashboard below a line that imports it, and the compiler reads both.

import type * as dashboard from "@grafana/grafana-foundation-sdk/dashboard";
import type * as prometheus from "@grafana/grafana-foundation-sdk/prometheus";
import type * as timeseries from "@grafana/grafana-foundation-sdk/timeseries";
import type * as units from "@grafana/grafana-foundation-sdk/units";

// JSON has the words of an enumeration and not its names, and no functions.
type Json<T> = 0 extends 1 & T
  ? unknown
  : T extends string
    ? `${T}`
    : T extends number | boolean | null | undefined
      ? T
      : T extends (infer Item)[]
        ? Json<Item>[]
        : { [Key in keyof T as T[Key] extends Function ? never : Key]: Json<T[Key]> };

// The SDK has "any" where it depends on the kind of panel and of source.
type Other<T, Changed> = Omit<Json<T>, keyof Changed> & Changed;

type Unit = (typeof units)[keyof typeof units] | `suffix:${string}`;
type Source = { type: "prometheus"; uid: "${datasource}" };
type Query = Other<prometheus.Dataquery, { refId: string; datasource: Source }>;
type Field = Other<dashboard.FieldConfig, { unit: Unit; custom: Json<timeseries.FieldConfig> }>;
type Graph = Other<
  dashboard.Panel,
  {
    type: "timeseries";
    id: number;
    gridPos: Json<dashboard.GridPos>;
    datasource: Source;
    targets: Query[];
    options: Json<timeseries.Options>;
    fieldConfig: { defaults: Field; overrides: [] };
  }
>;
type Row = Json<dashboard.RowPanel>;

type Variable = Other<dashboard.VariableModel, { datasource?: Source }>;

export type Board = Other<dashboard.Dashboard, { templating: { list: Variable[] }; panels: (Graph | Row)[] }>;
