"""Stepping through bytecode: instruction, source, value stack and what each slot of it holds."""

from depyf.stepper.block import step
from depyf.stepper.slots import NULL, Slot
from depyf.stepper.stop import Block, Frame, Instruction, Stop

__all__ = ["NULL", "Block", "Frame", "Instruction", "Slot", "Stop", "step"]
