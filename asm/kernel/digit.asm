; digit - the answer, for whoever shows it after the last layer
digit:  defb 0
