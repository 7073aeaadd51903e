"""Remote signers, and the gateways that stand behind them."""
