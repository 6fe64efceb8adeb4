/** The parts of ECharts this page uses; loaded only when a chart is shown. */
import { BarChart, LineChart } from "echarts/charts";
import { AriaComponent, AxisPointerComponent, GridComponent, TooltipComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

use([BarChart, LineChart, GridComponent, TooltipComponent, AxisPointerComponent, AriaComponent, CanvasRenderer]);

export { init };
