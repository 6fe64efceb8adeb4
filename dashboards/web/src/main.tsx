import { render } from "preact";

import { App } from "./app";
import { applyPrefs } from "./state/prefs";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/parts.css";
import "./styles/reasons.css";
import "./styles/tables.css";
import "./styles/overview.css";
import "./styles/job.css";
import "./styles/narrow.css";

applyPrefs();
render(<App />, document.getElementById("app")!);
