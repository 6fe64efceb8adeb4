/** The parts of ECharts this page uses; loaded only when a chart is shown. */
import { BarChart } from "echarts/charts";
import { AriaComponent, AxisPointerComponent, GridComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([BarChart, GridComponent, TooltipComponent, AxisPointerComponent, AriaComponent, CanvasRenderer]);

export { init };
